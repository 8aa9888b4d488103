/** The height of a line of logs that is not wrapped, as `logs.css` sets it. */
import { preferences } from "../../state/preferences.ts";

/** In pixels. */
export function rowHeight(): number {
  return preferences.value.density === "compact" ? 22 : 26;
}
