/** The preferences as a signal: theme, time zone and density. */
import { effect, signal } from "@preact/signals";
import { applyPreferences, storedPreferences, storePreferences, type Preferences } from "./stored-preferences.ts";

export const preferences = signal(storedPreferences());

export function setPreferences(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...changes };
  storePreferences(preferences.value);
}

effect(() => applyPreferences(preferences.value));
