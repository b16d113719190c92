import * as Dialog from "@radix-ui/react-dialog";
import type { ReactNode } from "react";

interface Props {
  label: string;
  open: boolean;
  onClose: () => void;
  side: "left" | "right";
  children: ReactNode;
}

/** A pane over the page: traps the focus, closes on Escape and gives the focus back. */
export function Drawer({ label, open, onClose, side, children }: Props) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="veil" />
        <Dialog.Content className={`drawer ${side}`} aria-describedby={undefined}>
          <Dialog.Title className="vh">{label}</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
