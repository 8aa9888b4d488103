/** The view "Metrics". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function MetricsView() {
  return (
    <div class="view">
      <ViewHeader title="Metrics" time />
    </div>
  );
}
