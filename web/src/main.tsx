/** Starts the page. */

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { showTheme } from "./app/theme.ts";
import { useLanguage } from "./i18n/text.ts";
import "./ui/tokens.css";
import "./ui/base.css";

showTheme();
document.documentElement.lang = useLanguage.getState().language;

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
