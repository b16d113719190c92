import { describe, expect, test } from "vitest";

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

describe("of two servers with a tool of the same name", () => {
  const off = { name: "find", enabled: false };

  test("the call names the one that was judged, whichever comes first", () => {
    const both = [tool("attic", "find", { name: "find" }), tool("shelf", "find", off)];
    for (const available of [both, [...both].reverse()]) {
      const naming = namingFrom(available);
      expect(naming("find", "server-attic").tool).toBe(both[0]);
      expect(naming("find", "server-shelf").tool).toBe(both[1]);
      expect(naming("find").server).toBe("attic");
    }
  });

  test("a call made before the second was switched on keeps its server", () => {
    const naming = namingFrom([tool("attic", "find"), tool("shelf", "find")]);
    expect(naming("find", "server-attic").server).toBe("attic");
    expect(naming("find", "server-attic").tool?.server_slug).toBe("attic");
    expect(naming("shelf__find", "server-shelf").tool?.server_slug).toBe("shelf");
  });

  test("a call whose server is gone is not given to the other", () => {
    const naming = namingFrom([tool("shelf", "find", { name: "find" })]);
    expect(naming("find", "server-attic")).toMatchObject({ server: "attic", tool: null });
    expect(naming("find", "srv-01m7hacst0f6ja5d6dw9a068yt")).toMatchObject({ server: "", tool: null });
  });

  test("a draft that could be either names neither", () => {
    expect(namingFrom([tool("attic", "find"), tool("shelf", "find")])("find")).toMatchObject({
      title: "Find",
      server: "",
      tool: null,
    });
  });
});

test("a tool whose own name holds two underscores names its server, not its beginning", () => {
  expect(namingFrom([])("deep__find", "server-shelf").server).toBe("shelf");
});
