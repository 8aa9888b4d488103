/** The conversations of the list: the filters of its address, and how they are loaded page by page. */
import { computed } from "@preact/signals";
import type { Conversations } from "@sounding/client";
import { requestJson } from "../../api/request.ts";
import { parameters } from "../../state/address.ts";
import type { Moments } from "../../state/time-range.ts";
import type { PagedListOptions } from "../../telemetry/paged-list.ts";

export type Conversation = Conversations["data"][number];

/** What is sent to the API, without the time range. */
export const conversationFilters = computed(() => ({
  project_name: parameters.value.get("project") || undefined,
  service_name: parameters.value.get("service_name") || undefined,
  search: parameters.value.get("search") || undefined,
}));

const pageSize = 50;

/** @param range asked for with each first page */
export function conversationQuestion(filters: object, range: () => Moments): PagedListOptions<Conversation> {
  let paged = range();
  return {
    idOf: ({ id }) => id,
    async fetchPage(cursor, signal) {
      if (cursor === "") paged = range();
      const times = { start: new Date(paged.startMs).toISOString(), end: new Date(paged.endMs).toISOString() };
      const json = { ...filters, ...times, limit: pageSize, cursor };
      const { data, next_cursor } = await requestJson<Conversations>("observability/conversations", { json, signal });
      return { items: data, next: next_cursor ?? undefined };
    },
  };
}
