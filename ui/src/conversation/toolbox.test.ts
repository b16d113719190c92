import { expect, test } from "vitest";

import { tool } from "../testing/open";
import { namingFrom } from "./toolbox";

const naming = namingFrom([tool("files", "read")]);

test.each([
  ["of a running server", "read_more", "server-files", "files"],
  ["under its full name", "shelf__find", "srv-01m7hacst0f6ja5d6dw9a068yt", "shelf"],
  ["of a server that left the settings", "find", "server-shelf", "shelf"],
  ["of a server that was removed", "find", "srv-01m7hacst0f6ja5d6dw9a068yt", ""],
  ["of our own", "web_search", "windlass", "windlass"],
])("a call %s names the server in words or not at all", (_, name, server, shown) => {
  expect(naming(name, server).server).toBe(shown);
});
