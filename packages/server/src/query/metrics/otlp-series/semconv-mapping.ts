/**
 * Maps metrics that applications push to the equivalent metrics over spans: those of the same name, and those of
 * OpenTelemetry's GenAI conventions (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/). They fill in for
 * services that send no spans.
 */
import type { OtlpMetric, OtlpPart, OtlpSeriesName, SemconvMapping, SeriesLabels } from "./otlp-metric.ts";
import { agentOperation, inferenceOperations, toolOperation } from "../../../store/span-operations.ts";
import { spanSeriesNames } from "../span-series/span-metrics.ts";
import { timeoutErrorTypes } from "../../../store/span-labels.ts";

interface Form {
  /** OpenTelemetry's name, and the required unit. */
  readonly pushed: string;
  readonly unit: string;
  readonly part: OtlpPart;
  /** The name of the metric over spans. */
  readonly name: string;
  readonly covers?: (labels: SeriesLabels) => boolean;
}

const ofOperations =
  (operations: readonly string[], withoutOperation: boolean) =>
  (labels: SeriesLabels): boolean => {
    const operation = labels.get("operation") ?? "";
    return operation === "" ? withoutOperation : operations.includes(operation);
  };
const ofInference = ofOperations(inferenceOperations, true);
const ofAgents = ofOperations([agentOperation], false);

function histogram(pushed: string, name: string, covers?: Form["covers"]): Form[] {
  return (["bucket", "sum", "count"] as const).map((part) => ({
    pushed,
    unit: "s",
    part,
    name: `${name}_${part}`,
    ...(covers === undefined ? {} : { covers }),
  }));
}

const duration = { pushed: "gen_ai.client.operation.duration", unit: "s", part: "count" } as const;

const forms: readonly Form[] = [
  { ...duration, name: "inference_requests_total", covers: ofInference },
  { ...duration, name: "agent_tasks_total", covers: ofAgents },
  { ...duration, name: "agent_tool_calls_total", covers: ofOperations([toolOperation], false) },
  ...histogram(duration.pushed, "inference_duration_seconds", ofInference),
  ...histogram(duration.pushed, "agent_duration_seconds", ofAgents),
  ...histogram("gen_ai.client.operation.time_to_first_chunk", "inference_time_to_first_token_seconds", ofInference),
  ...histogram("gen_ai.server.time_to_first_token", "inference_time_to_first_token_seconds", ofInference),
  { pushed: "gen_ai.client.token.usage", unit: "{token}", part: "sum", name: "token_usage_total", covers: ofInference },
  { pushed: "rai.rejection", unit: "", part: "value", name: "rai_rejections_total" },
];

/** The parts of a point of each type. */
const partsOf: Partial<Record<OtlpMetric["type"], readonly OtlpPart[]>> = {
  sum: ["value"],
  histogram: ["bucket", "sum", "count"],
  // Its buckets are not classic buckets.
  exponential_histogram: ["sum", "count"],
};

const metricsByName = new Map(spanSeriesNames.map(({ metric, name }) => [name, metric]));

/** The names of metrics over spans under which a pushed metric can be selected too. */
export function semconvNames(metric: OtlpMetric): OtlpSeriesName[] {
  return forms
    .filter(({ part, pushed, unit }) => {
      const isCounted = metric.type !== "sum" || metric.monotonic;
      const hasUnit =
        metric.unit === unit || (unit !== "s" && (metric.unit === "" || /^\{.*\}$|^1$/.test(metric.unit)));
      return metric.metric === pushed && hasUnit && isCounted && partsOf[metric.type]?.includes(part) === true;
    })
    .map(({ covers = () => true, name, part }) => ({
      name,
      metric,
      part,
      mapping: { metric: metricsByName.get(name)!, covers },
    }));
}

/** The same for a series that has such a name already. */
export function withSpanMetric(name: OtlpSeriesName): OtlpSeriesName {
  const metric = metricsByName.get(name.name);
  return metric === undefined ? name : { ...name, mapping: { metric, covers: () => true } };
}

/** For each of our labels, the pushed labels that it is taken from; the first one present counts. */
const sources: Readonly<Record<string, readonly string[]>> = {
  model_key: ["gen_ai_request_model", "gen_ai_response_model"],
  provider: ["gen_ai_provider_name", "gen_ai_system"],
  operation: ["gen_ai_operation_name"],
  agent_name: ["gen_ai_agent_name"],
  agent_class: ["gen_ai_agent_class"],
  session_id: ["gen_ai_conversation_id"],
  user_id: ["user_id", "enduser_id"],
  token_type: ["gen_ai_token_type"],
  tool_name: ["gen_ai_tool_name"],
  category: ["gen_ai_guardrail_risk_category", "rai_category"],
};

/** The labels of a pushed series plus ours. None is removed, so that distinct series stay distinct. */
export function semconvLabels(labels: SeriesLabels, { metric }: SemconvMapping): SeriesLabels {
  const filled = new Map(labels);
  for (const name of [...metric.labels, ...metric.labelsWhenNamed, "operation"]) {
    const said =
      labels.get(name) ?? (sources[name] ?? []).map((each) => labels.get(each)).find((each) => each !== undefined);
    if (said !== undefined) filled.set(name, said);
  }
  const { labels: known } = metric;
  if (known.includes("status") && !filled.has("status")) filled.set("status", statusOf(labels.get("error_type")));
  if (known.includes("category")) {
    const category = filled.get("category") ?? "unknown";
    const head = category.split("/", 1)[0]!;
    filled.set("category", head);
    if (head !== category) filled.set("subcategory", category);
  }
  return filled;
}

/** The labels from which `semconvLabels` derives these, and those that decide which metric a series belongs to. */
export function semconvSources(labels: ReadonlySet<string>): readonly string[] {
  const deriving = [...labels, "operation", "status", "category"];
  return [...deriving, ...deriving.flatMap((name) => sources[name] ?? []), "error_type"];
}

function statusOf(errorType: string | undefined): string {
  if (errorType === undefined || errorType === "") return "success";
  return /timeout/i.test(errorType) || timeoutErrorTypes.includes(errorType) ? "timeout" : "failure";
}
