import { PageFrame } from "../app/PageFrame";

export default function Servers() {
  return (
    <PageFrame title="Servers">
      <p className="dim">Nothing here yet.</p>
    </PageFrame>
  );
}
