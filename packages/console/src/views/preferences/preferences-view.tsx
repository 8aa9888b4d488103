/** The view "Preferences". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function PreferencesView() {
  return (
    <div class="view">
      <ViewHeader title="Preferences" />
    </div>
  );
}
