/** What the page says of the web search: slashes are offered only where they search. */

import type { SearchState } from "../api";
import { useResource } from "../app/resource";
import { searchState } from "../app/resources";

export const SEARCHES = "Searches the web first. The slashes are not sent.";

/** What `//` does here, or why no search runs. */
export function slashesText({ prefix, ready, reason }: SearchState): string {
  if (!ready) return `No search runs. ${reason}`;
  return prefix
    ? SEARCHES
    : "No search runs: slashes are plain text here (web_search.prefix in windlass.toml).";
}

export function useMessageHint(): string {
  const { value } = useResource(searchState);
  return value?.prefix && value.ready ? "Message, or // to search the web" : "Message";
}

/** Why no answer can be searched for, whatever the model; "" where it can, or as long as that is not known. */
export function useSearchOff(): string {
  const { value } = useResource(searchState);
  return value?.backend === "off" ? slashesText(value) : "";
}
