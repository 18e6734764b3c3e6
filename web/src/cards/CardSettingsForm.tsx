/** The form of what a card's manifest lets its user set; nothing where it declares no settings. */

import { type FormEvent, useEffect, useState } from "react";
import { messageOf } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { onMoments } from "../board/store.ts";
import { useLanguage, useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Button } from "../ui/Button.tsx";
import { showToast } from "../ui/toasts.ts";
import "./card-settings-form.css";
import { SettingField } from "./SettingField.tsx";
import { type Draft, held, type Problems, problemsIn, readSettings, type Shown, saveSettings } from "./settings.ts";

export function CardSettingsForm({ card }: { readonly card: string }) {
  const language = useLanguage((state) => state.language);
  const asked = useAsked(`card-settings:${card}:${language}`, () => readSettings(card, language));
  const { again } = asked;
  useEffect(
    () =>
      onMoments((moments) => {
        const concerns = moments.some(
          (moment) =>
            (moment.type === "settings" && "card" in moment && moment.card === card) ||
            moment.type === "package" ||
            moment.type === "reset",
        );
        if (concerns) void again();
      }),
    [card, again],
  );
  return (
    <AskedView asked={asked}>
      {(shown) => (shown.settings.length === 0 ? null : <Form key={card} card={card} shown={shown} again={again} />)}
    </AskedView>
  );
}

interface FormProps {
  readonly card: string;
  readonly shown: Shown;
  readonly again: () => Promise<void>;
}

function Form({ card, shown, again }: FormProps) {
  const text = useText();
  const [draft, setDraft] = useState<Draft>({});
  const [problems, setProblems] = useState<Problems>({});
  const [isBusy, setBusy] = useState(false);
  const isChanged = Object.keys(draft).length > 0;

  const discard = (): void => {
    setDraft({});
    setProblems({});
  };
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await saveSettings(card, shown.settings, draft);
      await again();
      discard();
      showToast({ tone: "ok", text: text("cards.set.saved") });
    } catch (error) {
      const found = problemsIn(error);
      setProblems(found);
      if (Object.keys(found).length === 0) showToast({ tone: "bad", text: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="card-settings-form" onSubmit={(event) => void save(event)} noValidate>
      <h3>{text("cards.set.title")}</h3>
      {shown.settings.map((setting) => (
        <SettingField
          key={setting.key}
          setting={setting}
          value={held(setting, shown, draft)}
          typed={draft[setting.key]}
          isSet={shown.secrets.includes(setting.key)}
          problem={problems[setting.key]}
          onType={(typed) =>
            setDraft(({ [setting.key]: _, ...rest }) =>
              typed === undefined ? rest : { ...rest, [setting.key]: typed },
            )
          }
        />
      ))}
      <div className="card-settings-form-end">
        <Button type="submit" tone="primary" busy={isBusy} disabled={!isChanged}>
          {text("cards.set.save")}
        </Button>
        {isChanged ? <Button onClick={discard}>{text("cards.set.discard")}</Button> : null}
      </div>
    </form>
  );
}
