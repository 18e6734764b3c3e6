/** What is around every page: the way to the others, appearance, language, signing out. */

import type { LucideIcon } from "lucide-react";
import { Bot, FileText, KeyRound, LogOut, ScrollText, Settings, ShieldCheck, Waypoints, Webhook } from "lucide-react";
import type { MouseEvent, ReactNode } from "react";
import { useLanguage, useText } from "../i18n/text.ts";
import type { TextKey } from "../i18n/words.ts";
import { IconButton } from "../ui/Button.tsx";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../ui/Menu.tsx";
import { Tip } from "../ui/Tip.tsx";
import { go, pathOf, type Route, type Section, useRoute } from "./routes.ts";
import { signOut } from "./session.ts";
import "./shell.css";
import { type Theme, useTheme } from "./theme.ts";

const ICONS: Readonly<Record<Section, LucideIcon>> = {
  agents: Bot,
  keys: KeyRound,
  webhooks: Webhook,
  files: FileText,
  consents: ShieldCheck,
  audit: ScrollText,
};

export function Shell({ children }: { readonly children: ReactNode }) {
  const text = useText();
  return (
    <div className="shell">
      <a className="shell-skip" href="#content">
        {text("app.skip")}
      </a>
      <nav className="shell-rail" aria-label={text("app.sections")}>
        <RailLink to={{ page: "canvas", workspace: undefined }} icon={Waypoints} name="app.canvas" />
        {(Object.keys(ICONS) as Section[]).map((section) => (
          <RailLink
            key={section}
            to={{ page: "gateway", section, rest: undefined }}
            icon={ICONS[section]}
            name={`app.${section}`}
          />
        ))}
        <span className="shell-space" />
        <SettingsMenu />
      </nav>
      <main id="content" className="shell-content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

interface RailLinkProps {
  readonly to: Route;
  readonly icon: LucideIcon;
  readonly name: TextKey;
}

function RailLink({ to, icon: Icon, name }: RailLinkProps) {
  const text = useText();
  const route = useRoute();
  const isHere =
    to.page === route.page && (to.page !== "gateway" || (route.page === "gateway" && to.section === route.section));
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <Tip text={text(name)} side="right">
      <a
        className="shell-link"
        href={pathOf(to)}
        aria-label={text(name)}
        aria-current={isHere ? "page" : undefined}
        onClick={follow}
      >
        <Icon aria-hidden size={20} />
      </a>
    </Tip>
  );
}

const THEMES: readonly Theme[] = ["system", "light", "dark"];

function SettingsMenu() {
  const text = useText();
  const { theme, choose } = useTheme();
  const language = useLanguage();
  return (
    <Menu trigger={<IconButton icon={Settings} label={text("app.settings")} side="right" />} align="start">
      <MenuLabel>{text("app.theme")}</MenuLabel>
      {THEMES.map((one) => (
        <MenuItem key={one} checked={one === theme} onSelect={() => choose(one)}>
          {text(`app.theme.${one}`)}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuLabel>{text("app.language")}</MenuLabel>
      <MenuItem checked={language.language === "en"} onSelect={() => language.choose("en")}>
        English
      </MenuItem>
      <MenuItem checked={language.language === "zh"} onSelect={() => language.choose("zh")}>
        中文
      </MenuItem>
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={() => void signOut()}>
        {text("app.sign_out")}
      </MenuItem>
    </Menu>
  );
}
