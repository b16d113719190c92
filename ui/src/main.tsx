import "./insecure";
import "./trusted";

import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { openSession } from "./api/session";
import { App } from "./app/App";
import { showTheme } from "./app/theme";
import { takeQuestion } from "./composer/draft";
import "./styles/index.css";

// The scroll lock of drawers adds a style element; the policy lets it in by the page's own nonce.
setNonce(document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "");
showTheme();
takeQuestion();
void openSession();

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
