/** Serves the queries of TraceQL: searches and metrics. */
import { AppError } from "../../errors.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import type { RouteInput, RouteResponse } from "../../http/route.ts";
import { searchTraces } from "@sounding/traceql/engine";
import { defaultStepNano } from "@sounding/traceql/metrics/intervals";
import { queryTraceqlInstant, queryTraceqlRange } from "@sounding/traceql/metrics/query-metrics";
import { queryOfTags } from "@sounding/traceql/spans/tag-search";
import type { SearchQuery, TraceqlQuery } from "@sounding/traceql/syntax/ast";
import { parseQuery } from "@sounding/traceql/syntax/parse-query";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { Store } from "../../store/store.ts";
import { createTenantTraces } from "../traces/traceql-storage/tenant-traces.ts";
import { instantAnswer, rangeAnswer } from "./metrics-answer.ts";
import { searchAnswer } from "./search-answer.ts";
import { readTags } from "./search-tags.ts";
import type { TempoParameters } from "./tempo-parameters.ts";

export interface QueryCall {
  readonly store: Pick<Store, "open">;
  readonly input: RouteInput<never>;
  readonly parameters: TempoParameters;
}

function evaluationOf({ input, store }: QueryCall) {
  const { memory, scope, signal } = input;
  const storage = createTenantTraces({ reader: store.open(scope), project: scope.namedProject });
  return { storage, options: { memory, signal, yielder: new CooperativeYield() } };
}

export async function serveSearch(call: QueryCall): Promise<RouteResponse> {
  const { parameters } = call;
  const query = searchQuery(parameters);
  const { fromUnixNano, toUnixNano } = parameters.secondsRange();
  const spans = parameters.integer("spss", { lowest: 0 });
  const { options, storage } = evaluationOf(call);
  const result = await searchTraces(storage, {
    ...options,
    query,
    startUnixNano: fromUnixNano,
    endUnixNano: toUnixNano + 1n,
    limit: parameters.integer("limit", { lowest: 1 }),
    // As in Tempo, 0 returns all spans.
    spansPerSpanSet: spans === 0 ? Infinity : spans,
  });
  return incrementalJson(searchAnswer(result));
}

function searchQuery(parameters: TempoParameters): SearchQuery {
  const [text, tags] = [parameters.text("q"), parameters.text("tags")];
  if (text !== undefined && tags !== undefined) {
    throw new AppError("invalid_request", "q and tags are both set; send one of them.", { param: "tags" });
  }
  const minDurationNano = parameters.durationNano("minDuration");
  const maxDurationNano = parameters.durationNano("maxDuration");
  if (text === undefined) return queryOfTags({ tags: readTags(tags ?? ""), minDurationNano, maxDurationNano });
  const query = parseQuery(text);
  if (query.kind === "search-query") return query;
  throw new AppError(
    "invalid_request",
    "q is a metrics query; expected a search. Send metrics queries to /api/metrics/query_range.",
    { param: "q" },
  );
}

export async function serveRangeMetrics(call: QueryCall): Promise<RouteResponse> {
  const { parameters } = call;
  const query = metricsQuery(parameters);
  const { endUnixNano, startUnixNano } = parameters.metricsRange();
  const stepNano = parameters.stepNano("step") ?? defaultStepNano(startUnixNano, endUnixNano);
  const exemplars = parameters.integer("exemplars", { lowest: 0 });
  const { options, storage } = evaluationOf(call);
  return incrementalJson(
    rangeAnswer(
      await queryTraceqlRange(storage, { ...options, query, startUnixNano, endUnixNano, stepNano, exemplars }),
    ),
  );
}

export async function serveInstantMetrics(call: QueryCall): Promise<RouteResponse> {
  const { parameters } = call;
  const query = metricsQuery(parameters);
  const range = parameters.metricsRange();
  const { options, storage } = evaluationOf(call);
  return incrementalJson(instantAnswer(await queryTraceqlInstant(storage, { ...options, query, ...range })));
}

function metricsQuery(parameters: TempoParameters): TraceqlQuery {
  const text = parameters.text("q") ?? parameters.text("query");
  if (text !== undefined) return parseQuery(text);
  throw new AppError("invalid_request", "q is missing; expected a TraceQL metrics query.", { param: "q" });
}
