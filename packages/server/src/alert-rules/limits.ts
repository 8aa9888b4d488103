/** What alert rules may have, wherever they are defined. */
import { inputLimit } from "../input-limits.ts";

export const maximumAlerts = inputLimit({
  area: "Alerts",
  bounds: "Alerts of one rule in one organization",
  value: 500,
  error: { instead: "the evaluation of the rule fails, and its alerts stay as they are" },
});
