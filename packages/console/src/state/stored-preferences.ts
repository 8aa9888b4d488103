/** The preferences of this browser, and how they apply to the page. */

export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly timeZone: "local" | "utc";
  readonly density: "comfortable" | "compact";
}

const storageKey = "sounding.preferences";

const defaults: Preferences = { theme: "system", timeZone: "local", density: "comfortable" };

const choices: { readonly [Name in keyof Preferences]: readonly Preferences[Name][] } = {
  theme: ["system", "light", "dark"],
  timeZone: ["local", "utc"],
  density: ["comfortable", "compact"],
};

/** What the browser stores; defaults where it stores nothing, something else or nothing at all. */
export function storedPreferences(): Preferences {
  let stored: Partial<Record<keyof Preferences, unknown>> = {};
  try {
    stored = JSON.parse(localStorage.getItem(storageKey) ?? "{}") as typeof stored;
  } catch {
    // Storage may be blocked, and its content may be anything.
  }
  const read = <Name extends keyof Preferences>(name: Name): Preferences[Name] =>
    choices[name].find((choice) => choice === stored[name]) ?? defaults[name];
  return { theme: read("theme"), timeZone: read("timeZone"), density: read("density") };
}

export function storePreferences(preferences: Preferences): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(preferences));
  } catch {
    // They then last as long as the page.
  }
}

/** The style sheets read both attributes. */
export function applyPreferences({ theme, density }: Preferences): void {
  document.documentElement.dataset["theme"] = theme;
  document.documentElement.dataset["density"] = density;
}
