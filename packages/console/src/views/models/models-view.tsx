/** The view "Models". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function ModelsView() {
  return (
    <div class="view">
      <ViewHeader title="Models" />
    </div>
  );
}
