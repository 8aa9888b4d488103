/** Serves queries of traces and of conversations. */
import { defaultConversationWindow, queryConversations } from "../../api/observability-conversations.ts";
import { queryTraceHistogram } from "../../api/observability-trace-histogram.ts";
import { defaultTraceWindow, listTracePresets, queryTraces } from "../../api/observability.ts";
import type { RatesOfModels } from "../../pricing/current-rates.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type Route } from "../../http/route.ts";
import type { Store } from "../../store/store.ts";
import { searchWarnings } from "../attribute-condition.ts";
import { openReader } from "../open-reader.ts";
import { projectOf } from "../project-filter.ts";
import { nowUnixNano, requestedRange } from "../time-window.ts";
import { listConversations } from "./conversations.ts";
import { modelCosts } from "./model-cost.ts";
import { decodeCursor } from "./newest-first-cursor.ts";
import { findTrace, searchTraces } from "./search-traces.ts";
import { spanCondition } from "./span-filter.ts";
import { traceHistogram } from "./trace-histogram.ts";
import type { TracePresets } from "./trace-presets.ts";

interface TraceParts {
  readonly store: Pick<Store, "open" | "state">;
  readonly tracePresets: TracePresets;
  readonly ratesOf: RatesOfModels;
}

const defaultPreset = "all_traces";
const defaultLimit = 100;
const defaultConversations = 50;

export function traceRoutes({ store, tracePresets, ratesOf }: TraceParts): Route[] {
  const costOf = modelCosts(ratesOf);
  return [
    route(queryTraces, async ({ body, scope, signal, memory }) => {
      const now = nowUnixNano();
      const project = projectOf(scope, body);
      const preset = tracePresets.find(body.trace);
      const detail = body.detail ?? true;
      const range = requestedRange(body, { defaultWindow: defaultTraceWindow, nowUnixNano: now });
      const reader = openReader(store, { scope, memory });
      const { cursor } = body;
      const page = cursor == null ? undefined : (decodeCursor(cursor) ?? ("first" as const));
      if (body.trace_id != null) {
        const hasRange = body.time_window != null || body.start != null || body.end != null;
        const traceId = body.trace_id.toLowerCase();
        const lookup = { project, traceId, range: hasRange ? range : undefined, detail, costOf, signal };
        return incrementalJson(await findTrace(reader, lookup));
      }
      const matches = await spanCondition(reader, body, { preset, project, signal });
      const limit = body.limit ?? defaultLimit;
      const search = { project, matches, range, nowUnixNano: now, limit, page, detail, costOf, signal };
      return incrementalJson({ ...(await searchTraces(reader, search)), ...searchWarnings(reader, body.search) });
    }),
    route(listTracePresets, () => ({
      kind: "json",
      value: { data: tracePresets.all.map(({ description, name }) => ({ name, description })) },
    })),
    route(queryTraceHistogram, async ({ body, scope, signal, memory }) => {
      const now = nowUnixNano();
      const project = projectOf(scope, body);
      const preset = tracePresets.find(body.trace ?? defaultPreset);
      const range = requestedRange(body, { defaultWindow: defaultTraceWindow, nowUnixNano: now });
      const reader = openReader(store, { scope, memory });
      const matches = await spanCondition(reader, body, { preset, project, signal });
      const search = { project, matches, range, nowUnixNano: now, step: body.step ?? undefined, signal };
      return { kind: "json", value: await traceHistogram(reader, search) };
    }),
    route(queryConversations, async ({ body, scope, signal, memory }) => {
      const now = nowUnixNano();
      const search = {
        project: projectOf(scope, body),
        conversationId: body.conversation_id ?? undefined,
        service: body.service_name ?? undefined,
        search: body.search ?? undefined,
        range: requestedRange(body, { defaultWindow: defaultConversationWindow, nowUnixNano: now }),
        nowUnixNano: now,
        after: body.cursor == null ? undefined : decodeCursor(body.cursor),
        limit: body.limit ?? defaultConversations,
        costOf,
        signal,
      };
      return incrementalJson(await listConversations(openReader(store, { scope, memory }), search));
    }),
  ];
}
