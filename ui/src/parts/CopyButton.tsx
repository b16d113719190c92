import { useEffect, useState } from "react";

import { IconButton, LinkButton } from "./Button";

interface Props {
  text: string | (() => string | Promise<string>);
  /** With a label it is an icon alone; without, a word. */
  label?: string;
  caption?: string;
}

const SAID_FOR_MS = 1500;

export function CopyButton({ text, label, caption = "Copy" }: Props) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
    setCopied(true);
  };
  const icon = copied ? "check" : "copy";
  if (label) return <IconButton icon={icon} label={copied ? "Copied" : label} onClick={copy} />;
  return (
    <LinkButton icon={icon} onClick={copy}>
      {copied ? "Copied" : caption}
    </LinkButton>
  );
}
