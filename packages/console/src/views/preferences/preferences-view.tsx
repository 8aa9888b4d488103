/** The view "Preferences": how the console looks in this browser, who is signed in, and what the server is. */
import type { ComponentChildren } from "preact";
import { apiUrl, requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { formatTime } from "../../design/format.ts";
import { Icon, type IconName } from "../../design/icons.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { preferences, setPreferences } from "../../state/preferences.ts";
import { session } from "../../state/session.ts";
import type { Preferences } from "../../state/stored-preferences.ts";
import { Account } from "./account.tsx";
import { Identity } from "./identity.tsx";
import { PersonalKeys } from "./personal-keys.tsx";
import { SessionList } from "./session-list.tsx";

interface Choice<Value> {
  readonly value: Value;
  readonly title: string;
  readonly icon?: IconName;
}

const themes: readonly Choice<Preferences["theme"]>[] = [
  { value: "system", title: "System", icon: "preferences" },
  { value: "light", title: "Light", icon: "sun" },
  { value: "dark", title: "Dark", icon: "moon" },
];
const timeZones: readonly Choice<Preferences["timeZone"]>[] = [
  { value: "local", title: "Local time" },
  { value: "utc", title: "UTC" },
];
const densities: readonly Choice<Preferences["density"]>[] = [
  { value: "comfortable", title: "Comfortable" },
  { value: "compact", title: "Compact" },
];

export function PreferencesView() {
  const { theme, timeZone, density } = preferences.value;
  return (
    <div class="view preferences">
      <ViewHeader title="Preferences" />
      <Section title="Appearance" hint="Kept in this browser.">
        <ChoiceField
          name="theme"
          label="Theme"
          choices={themes}
          value={theme}
          onChoose={(chosen) => setPreferences({ theme: chosen })}
        />
        <ChoiceField
          name="time-zone"
          label="Times"
          hint={`Now: ${formatTime(Date.now())}`}
          choices={timeZones}
          value={timeZone}
          onChoose={(chosen) => setPreferences({ timeZone: chosen })}
        />
        <ChoiceField
          name="density"
          label="Density"
          choices={densities}
          value={density}
          onChoose={(chosen) => setPreferences({ density: chosen })}
        />
      </Section>
      <Section title="Signed in">
        <Identity session={session.value!} />
      </Section>
      <Section title="Account">
        <Account session={session.value!} />
      </Section>
      {session.value!.person !== null && (
        <Section title="Your keys" hint="Of this organization.">
          <PersonalKeys of={session.value!} />
        </Section>
      )}
      <Section title="Sessions">
        <SessionList />
      </Section>
      <Section title="Server">
        <Server />
      </Section>
    </div>
  );
}

function Section({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="card stack" aria-label={title}>
      <div class="row">
        <h2>{title}</h2>
        {hint !== undefined && <span class="small muted">{hint}</span>}
      </div>
      {children}
    </section>
  );
}

function ChoiceField<Value extends string>({
  name,
  label,
  hint,
  choices,
  value,
  onChoose,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Value;
  readonly onChoose: (value: Value) => void;
}) {
  return (
    <fieldset class="preferences-choice">
      <legend>{label}</legend>
      <div class="preferences-options">
        {choices.map((choice) => (
          <label key={choice.value} class="preferences-option">
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChoose(choice.value)}
            />
            <span class="button">
              {choice.icon && <Icon name={choice.icon} />}
              {choice.title}
            </span>
          </label>
        ))}
      </div>
      {hint !== undefined && <span class="small muted">{hint}</span>}
    </fieldset>
  );
}

function Server() {
  const { data, error } = useQuery((signal) => requestJson<{ readonly version?: string }>("healthz", { signal }));
  return (
    <dl class="preferences-facts">
      <div>
        <dt>Address</dt>
        <dd>
          <code>{apiUrl("").replace(/\/$/, "")}</code>
        </dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>{data.value?.version ?? (error.value === undefined ? "…" : "Unknown")}</dd>
      </div>
      <div>
        <dt>API</dt>
        <dd>
          <a href={apiUrl("docs")} target="_blank" rel="noreferrer">
            Reference
          </a>{" "}
          ·{" "}
          <a href={apiUrl("openapi.json")} target="_blank" rel="noreferrer">
            OpenAPI document
          </a>
        </dd>
      </div>
    </dl>
  );
}
