/** The first view: what the organization's applications call, how well that works, what it costs, and how the server is. */
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { ProjectSelect } from "../../shell/project-select.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { parameters } from "../../state/address.ts";
import { moments, setTimeRange, timeRange } from "../../state/time-range.ts";
import { CallCharts } from "./call-charts.tsx";
import { CallGroups } from "./call-groups.tsx";
import { CallTotals } from "./call-totals.tsx";
import { readCalls } from "./calls-summary.ts";
import { FirstCall } from "./first-call.tsx";
import { ServerHealth } from "./server-health.tsx";

export function OverviewView() {
  const project = parameters.value.get("project") ?? undefined;
  const calls = useQuery((signal) => readCalls(moments.value, project, signal), [project]);
  const { data, error } = calls;
  return (
    <div class="view">
      <ViewHeader title="Overview" time>
        <ProjectSelect />
      </ViewHeader>
      {data.value === undefined ? (
        error.value === undefined ? (
          <Loading what="the overview" onCancel={calls.cancel} />
        ) : (
          <ErrorState error={error.value} onRetry={calls.reload} />
        )
      ) : data.value.total.calls === 0 ? (
        <NoCalls project={project} />
      ) : (
        <div class={`overview ${calls.loading.value ? "refreshing" : ""}`}>
          {error.value && <ErrorState error={error.value} onRetry={calls.reload} />}
          <CallTotals summary={data.value} />
          <CallCharts summary={data.value} />
          <CallGroups title="By model" kind="model_key" groups={data.value.models} />
          <CallGroups title="By project" kind="project_name" groups={data.value.projects} />
        </div>
      )}
      <ServerHealth />
    </div>
  );
}

/** How far back telemetry is looked for before the server counts as empty. */
const everything = "3650d";

/** No calls: because there never were any, or because of the time range or the project. */
function NoCalls({ project }: { readonly project: string | undefined }) {
  const any = useQuery((signal) =>
    requestJson<{ traces: unknown[] }>("observability/traces", {
      json: { trace: "all_traces", time_window: everything, detail: false, limit: 1 },
      signal,
    }),
  );
  if (any.error.value !== undefined) return <ErrorState error={any.error.value} onRetry={any.reload} />;
  if (any.data.value === undefined) return <Loading what="the overview" />;
  if (any.data.value.traces.length === 0) return <FirstCall />;
  return (
    <EmptyState title="No model was called in this time range" icon="overview">
      <p>
        {project === undefined ? "There is older telemetry." : "There may be calls in other projects, or older ones."}{" "}
        Select a longer time range to see it.
      </p>
      {timeRange.value.from !== "now-30d" && (
        <button type="button" class="button" onClick={() => setTimeRange({ from: "now-30d", to: "now" })}>
          Show the last 30 days
        </button>
      )}
    </EmptyState>
  );
}
