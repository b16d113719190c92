import * as Dialog from "@radix-ui/react-dialog";
import { useRef, type ReactNode } from "react";

interface Props {
  label: string;
  open: boolean;
  onClose: () => void;
  side: "left" | "right";
  children: ReactNode;
}

/** A pane over the page: traps the focus, closes on Escape and gives the focus back. */
export function Drawer({ label, open, onClose, side, children }: Props) {
  const before = useRef<Element | null>(null); // it has no trigger of its own that could get the focus back
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="veil" />
        <Dialog.Content
          className={`drawer ${side}`}
          aria-describedby={undefined}
          onOpenAutoFocus={() => (before.current = document.activeElement)}
          onCloseAutoFocus={() => before.current instanceof HTMLElement && before.current.focus()}
        >
          <Dialog.Title className="vh">{label}</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
