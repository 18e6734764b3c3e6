/** Light or dark: as the user has chosen, or as the system says. */

import { create } from "zustand";

export type Theme = "system" | "light" | "dark";

const KEPT_AS = "toolwire.theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

interface ThemeState {
  readonly theme: Theme;
  /** What is shown. */
  readonly shown: "light" | "dark";
  readonly choose: (theme: Theme) => void;
}

export const useTheme = create<ThemeState>()((set) => ({
  theme: kept(),
  shown: shownAs(kept()),
  choose: (theme) => {
    localStorage.setItem(KEPT_AS, theme);
    set({ theme, shown: shownAs(theme) });
  },
}));

/** Keep the document in the theme from now on. */
export function showTheme(): void {
  const show = (): void => {
    document.documentElement.dataset.theme = useTheme.getState().shown;
  };
  dark.addEventListener("change", () => useTheme.setState((state) => ({ shown: shownAs(state.theme) })));
  useTheme.subscribe(show);
  show();
}

function kept(): Theme {
  const theme = localStorage.getItem(KEPT_AS);
  return theme === "light" || theme === "dark" ? theme : "system";
}

function shownAs(theme: Theme): "light" | "dark" {
  if (theme !== "system") return theme;
  return dark.matches ? "dark" : "light";
}
