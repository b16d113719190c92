import type { ReactNode } from "react";

interface Props {
  id: string;
  title: string;
  words?: string;
  children: ReactNode;
}

export function Section({ id, title, words, children }: Props) {
  return (
    <section id={id} className="panel setting" aria-labelledby={`${id}-title`}>
      <div className="panel-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {words && <span className="dim">{words}</span>}
      </div>
      <div className="panel-body">{children}</div>
    </section>
  );
}
