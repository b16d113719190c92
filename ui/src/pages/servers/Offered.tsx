import { useState } from "react";

import type { Server, ServerTool } from "../../api";
import { Segments } from "../../parts";
import { PromptsOf } from "./PromptsOf";
import { ResourcesOf } from "./ResourcesOf";
import { ToolGrid } from "./ToolGrid";

interface Props {
  server: Server;
  tools: readonly ServerTool[];
}

type Tab = "tools" | "resources" | "prompts";

/** What a server has: tools alone, or tabs where it has more. */
export function Offered({ server, tools }: Props) {
  const tabs: { value: Tab; label: string }[] = [
    ...(tools.length > 0 ? [{ value: "tools" as const, label: `Tools, ${tools.length}` }] : []),
    ...(server.has_resources ? [{ value: "resources" as const, label: "Resources" }] : []),
    ...(server.has_prompts ? [{ value: "prompts" as const, label: "Prompts" }] : []),
  ];
  const [chosen, setChosen] = useState<Tab>("tools");
  const tab = tabs.find((one) => one.value === chosen)?.value ?? tabs[0]?.value;
  return (
    <>
      {tabs.length > 1 && tab && (
        <Segments
          kind="tabs"
          label={`Inside ${server.name}`}
          value={tab}
          options={tabs}
          onChange={setChosen}
        />
      )}
      {tab === "tools" && <ToolGrid server={server.id} tools={tools} />}
      {tab === "resources" && <ResourcesOf server={server} />}
      {tab === "prompts" && <PromptsOf server={server} />}
    </>
  );
}
