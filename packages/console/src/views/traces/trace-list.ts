/** The traces of the list: which are asked for, and how they are loaded page by page. */
import type { TracesResult } from "@sounding/client";
import { requestJson } from "../../api/request.ts";
import type { Moments } from "../../state/time-range.ts";
import type { PagedListOptions } from "../../telemetry/paged-list.ts";
import type { TraceFilters } from "./trace-filters.ts";

export type ListedTrace = TracesResult["traces"][number];

const pageSize = 100;

/** The time range as the API takes it. */
export function queryTimes({ startMs, endMs }: Moments): { start: string; end: string } {
  return { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() };
}

/** @param range asked for with each page, so that a live list also asks for what is new */
export function traceQuestion(filters: TraceFilters, range: () => Moments): PagedListOptions<ListedTrace> {
  let paged = range();
  return {
    idOf: ({ traceID }) => traceID,
    async fetchPage(cursor, signal) {
      // Later pages continue the range of the first one.
      if (cursor === "") paged = range();
      const json = { ...filters, ...queryTimes(paged), detail: false, limit: pageSize, cursor };
      const { traces, next_cursor, warnings } = await requestJson<TracesResult>("observability/traces", {
        json,
        signal,
      });
      return { items: traces, next: next_cursor ?? undefined, warning: warnings?.join(" ") };
    },
  };
}
