/** The view "Overview". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function OverviewView() {
  return (
    <div class="view">
      <ViewHeader title="Overview" time />
    </div>
  );
}
