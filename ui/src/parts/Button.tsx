import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

import { Icon, type IconName } from "./Icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "plain" | "primary" | "ghost";
  small?: boolean;
  icon?: IconName;
  ref?: Ref<HTMLButtonElement>;
}

/** One filled ("primary") button per card at most, and it is the safest useful one. */
export function Button({ look = "plain", small, icon, className = "", children, ...rest }: Props) {
  const classes = ["btn", look !== "plain" && look, small && "small", className].filter(Boolean).join(" ");
  return (
    <button type="button" className={classes} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
  icon: IconName;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ label, icon, className = "", ...rest }: IconButtonProps) {
  return (
    <button type="button" className={`icon-btn ${className}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

interface LinkButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: IconName;
  children: ReactNode;
}

export function LinkButton({ icon, children, className = "", ...rest }: LinkButtonProps) {
  return (
    <button type="button" className={`link-btn ${className}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
