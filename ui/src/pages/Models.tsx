import { PageFrame } from "../app/PageFrame";

export default function Models() {
  return (
    <PageFrame title="Models">
      <p className="dim">Nothing here yet.</p>
    </PageFrame>
  );
}
