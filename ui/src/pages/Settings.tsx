import { PageFrame } from "../app/PageFrame";

export default function Settings() {
  return (
    <PageFrame title="Settings">
      <p className="dim">Nothing here yet.</p>
    </PageFrame>
  );
}
