/** What alert rules may have, wherever they are defined. */
import { inputLimit } from "../input-limits.ts";

const staysAsItIs = { instead: "the evaluation of the rule fails, and its alerts stay as they are" };

export const maximumAlerts = inputLimit({
  area: "Alerts",
  bounds: "Alerts of one rule in one organization, those that fire because of `keep_firing_for` included",
  value: 500,
  error: staysAsItIs,
});

export const maximumTextCharacters = inputLimit({
  area: "Alerts",
  bounds: "Text of one label or annotation of an alert, after its template is expanded",
  value: 8192,
  unit: "characters",
  error: staysAsItIs,
});

export const maximumRuleCharacters = inputLimit({
  area: "Alerts",
  bounds: "Labels and annotations of all alerts of one rule in one organization",
  value: 1_048_576,
  unit: "characters",
  error: staysAsItIs,
});
