/** What is known of a model, on one line. */

import type { ModelInfo } from "../../api";
import { grouped } from "../../parts/format";

type Facts = Omit<ModelInfo, "id" | "provider_id" | "chats">;

export function factsOf({
  context,
  input_price: input,
  output_price: output,
  images,
  audio,
  tools,
}: Facts): string {
  const price = input === null || output === null ? "" : `$${input} in, $${output} out`;
  const size = context === null ? "" : `${grouped(context)} tokens`;
  return [size, price, images && "images", audio && "sound", tools && "tools", tools === false && "no tools"]
    .filter(Boolean)
    .join(" · ");
}

export function sourceOf({ source, as_of: date, from_table: table }: Facts): string {
  if (source === "provider")
    return table.length > 0 ? `From the provider; the rest as of ${date}` : "From the provider";
  return source === "table" ? `As of ${date}; prices for a million tokens` : "";
}
