import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { Refusal, serve } from "../testing/server";
import { ConversationPage } from "./ConversationPage";

test("a conversation that is not there says so, and leads on", async () => {
  const gone = new Refusal(404, { code: "not_found", message: "There is no chat gone." });
  serve({ "GET /conversations/gone": gone });
  render(<ConversationPage id="gone" />);
  expect(await screen.findByRole("heading", { name: "Chat not found" })).toBeTruthy();
  expect(screen.getByRole("button", { name: "New chat" })).toBeTruthy();
  expect(screen.queryByRole("textbox")).toBeNull();
});
