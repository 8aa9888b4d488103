/** The view "Logs". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function LogsView() {
  return (
    <div class="view">
      <ViewHeader title="Logs" time />
    </div>
  );
}
