/** The view "Traces": the list, or one trace. */
import { viewPath } from "../../state/address.ts";
import { TraceView } from "../trace/trace-view.tsx";
import { TraceListView } from "./trace-list-view.tsx";

export function TracesView() {
  if (viewPath.value !== "") return <TraceView key={viewPath.value} traceId={viewPath.value} />;
  return <TraceListView />;
}
