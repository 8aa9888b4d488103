/** The view "Traces". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function TracesView() {
  return (
    <div class="view">
      <ViewHeader title="Traces" time />
    </div>
  );
}
