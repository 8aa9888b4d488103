/** The view "Playground". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function PlaygroundView() {
  return (
    <div class="view">
      <ViewHeader title="Playground" />
    </div>
  );
}
