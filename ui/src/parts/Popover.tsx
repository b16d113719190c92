import * as Radix from "@radix-ui/react-popover";
import * as RadixMenu from "@radix-ui/react-dropdown-menu";
import { useRef, type ReactNode } from "react";

import { Icon, type IconName } from "./Icon";

interface Props {
  trigger: ReactNode;
  label: string;
  children: ReactNode;
  className?: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  side?: "top" | "bottom";
  align?: "start" | "end";
  /** What it stands beside, when that is not its trigger: a selector, looked up when it opens. */
  beside?: string;
}

/** Floats beside its trigger, holds the focus while open and gives it back. Escape closes it and goes no further. */
export function Popover({
  trigger,
  label,
  children,
  className = "",
  side = "top",
  align = "start",
  beside,
  ...state
}: Props) {
  const anchor = useRef<Measured>({ getBoundingClientRect: () => rectOf(beside ?? "") });
  return (
    <Radix.Root {...state}>
      {beside && <Radix.Anchor virtualRef={anchor} />}
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className={`float ${className}`}
          aria-label={label}
          side={side}
          align={align}
          sideOffset={8}
          collisionPadding={8}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface Measured {
  getBoundingClientRect: () => DOMRect;
}

function rectOf(selector: string): DOMRect {
  return document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect();
}

export interface MenuItem {
  id: string;
  label: ReactNode;
  hint?: string;
  icon?: IconName;
  checked?: boolean;
  danger?: boolean;
  onSelect: () => void;
}

interface MenuProps {
  trigger: ReactNode;
  label: string;
  items: readonly MenuItem[];
  side?: "top" | "bottom";
  align?: "start" | "end";
  footer?: ReactNode;
}

export function Menu({ trigger, label, items, side = "bottom", align = "end", footer }: MenuProps) {
  return (
    <RadixMenu.Root modal={false}>
      <RadixMenu.Trigger asChild>{trigger}</RadixMenu.Trigger>
      <RadixMenu.Portal>
        <RadixMenu.Content
          className="float menu-list"
          aria-label={label}
          side={side}
          align={align}
          sideOffset={4}
          collisionPadding={8}
        >
          {items.map((item) => (
            <MenuRow key={item.id} item={item} />
          ))}
          {footer && <div className="menu-foot">{footer}</div>}
        </RadixMenu.Content>
      </RadixMenu.Portal>
    </RadixMenu.Root>
  );
}

function MenuRow({ item }: { item: MenuItem }) {
  const inside = (
    <>
      {item.icon && <Icon name={item.icon} />}
      <span className="grow cut">{item.label}</span>
      {item.hint && <small className="dim">{item.hint}</small>}
      {item.checked && <Icon name="check" />}
    </>
  );
  const className = item.danger ? "menu-row bad" : "menu-row";
  if (item.checked === undefined)
    return (
      <RadixMenu.Item className={className} onSelect={item.onSelect}>
        {inside}
      </RadixMenu.Item>
    );
  return (
    <RadixMenu.CheckboxItem className={className} checked={item.checked} onSelect={item.onSelect}>
      {inside}
    </RadixMenu.CheckboxItem>
  );
}
