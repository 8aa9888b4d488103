/** One request to Loki's HTTP API, with what serves it. */
import type { RouteInput } from "../../http/route.ts";
import { defaultLimits } from "@sounding/logql/evaluate/limits";
import { isLogQuery, type LabelMatcher, type LogQuery } from "@sounding/logql/syntax/ast";
import { parseLogqlQuery } from "@sounding/logql/syntax/parse-query";
import { Budget } from "@sounding/promql/evaluate/budget";
import type { MemoryCharge } from "../../memory-budget.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { Store } from "../../store/store.ts";
import { createTenantLogs, type TenantLogs } from "../logs/logql-storage/tenant-logs.ts";
import type { StreamsRequest } from "../logs/streams.ts";
import { invalidParameter } from "../request-parameters.ts";
import type { LokiParameters, LokiRange } from "./loki-parameters.ts";

export interface LokiCall {
  readonly parameters: LokiParameters;
  readonly nowUnixNano: bigint;
  /** Decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly headers: RouteInput<never>["headers"];
  readonly logs: TenantLogs;
  readonly signal: AbortSignal;
  readonly memory: MemoryCharge;
  readonly yielder: CooperativeYield;
  /** Of the work outside the engine. */
  readonly budget: Budget;
}

export type CallInput = Pick<RouteInput<never>, "headers" | "path" | "scope" | "signal" | "memory">;

export function lokiCall(store: Pick<Store, "open">, parameters: LokiParameters, input: CallInput): LokiCall {
  const { headers, memory, path, scope, signal } = input;
  const yielder = new CooperativeYield();
  return {
    parameters,
    nowUnixNano: BigInt(Date.now()) * 1_000_000n,
    path,
    headers,
    logs: createTenantLogs({ reader: store.open(scope), project: scope.namedProject }),
    signal,
    memory,
    yielder,
    budget: new Budget(defaultLimits, signal, { memory, yielder }),
  };
}

/** The matchers of a stream selector; none for `{}`, where every stream may be selected. */
export async function readSelector(name: string, text: string, { budget }: LokiCall): Promise<readonly LabelMatcher[]> {
  if (/^\s*\{\s*\}\s*$/.test(text)) return [];
  const expression = await parseLogqlQuery(text, budget);
  if (isLogQuery(expression) && expression.stages.length === 0) return expression.matchers;
  throw invalidParameter(
    name,
    'is not only a stream selector; expected label matchers such as {service_name="checkout"}',
  );
}

/** The log query in `query`. */
export async function readLogQuery({ budget, parameters }: LokiCall): Promise<LogQuery> {
  const expression = await parseLogqlQuery(parameters.required("query"), budget);
  if (isLogQuery(expression)) return expression;
  throw invalidParameter("query", "is a metric query; expected a log query");
}

/** Whether the response separates labels by where they came from. */
export function categorizesLabels(headers: LokiCall["headers"]): boolean {
  const flags = headers["x-loki-response-encoding-flags"];
  return String(flags ?? "")
    .split(",")
    .some((flag) => flag.trim() === "categorize-labels");
}

/** Streams that a request may select, and rows of streams and steps that it may read. */
const maximumStreams = 500_000;

export function streamsRequest(
  matchers: readonly LabelMatcher[],
  range: LokiRange,
  { budget, signal }: Pick<LokiCall, "budget" | "signal">,
): StreamsRequest {
  return {
    matchers,
    ...range,
    signal,
    yieldBudget: budget,
    charge: (bytes) => budget.holdBytes(bytes),
    maximumStreams,
  };
}
