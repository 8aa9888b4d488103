/** The view "Traces": the list, or one trace. */
import { ViewHeader } from "../../shell/view-header.tsx";
import { viewPath } from "../../state/address.ts";
import { TraceView } from "../trace/trace-view.tsx";

export function TracesView() {
  if (viewPath.value !== "") return <TraceView key={viewPath.value} traceId={viewPath.value} />;
  return <TraceList />;
}

function TraceList() {
  return (
    <div class="view">
      <ViewHeader title="Traces" time />
    </div>
  );
}
