/** The filters of the list of traces, which are parameters of its address under the names of the API. */
import { computed } from "@preact/signals";
import type { TracesQueryParams } from "@sounding/client";
import { formatDuration } from "../../design/format.ts";
import { parameters, setParameters } from "../../state/address.ts";

/** Filters that have one text. */
export const textFilters = {
  service_name: "Service",
  operation: "Operation",
  model: "Model",
  conversation_id: "Conversation",
  user_id: "End user",
  key_id: "API key",
  search: "Text",
} as const;
export type TextFilter = keyof typeof textFilters;

export const statuses = { error: "Error", ok: "OK", unset: "Unset" } as const;
type Status = keyof typeof statuses;

export const defaultPreset = "all_traces";

/** What is sent to the API, without the time range. */
export type TraceFilters = Pick<
  TracesQueryParams,
  "trace" | "project_name" | "status" | "min_duration_ms" | "max_duration_ms" | "attributes" | keyof typeof textFilters
>;

/** Undefined members are not sent. */
export const traceFilters = computed<TraceFilters>(() => {
  const text = (name: string): string | undefined => parameters.value.get(name) || undefined;
  const number = (name: string): number | undefined => {
    const value = Number(text(name) ?? Number.NaN);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  };
  const status = text("status");
  const attributes = attributeFilters.value;
  const filters = {
    trace: text("trace") ?? defaultPreset,
    project_name: text("project"),
    status: isStatus(status) ? status : undefined,
    min_duration_ms: number("min_duration_ms"),
    max_duration_ms: number("max_duration_ms"),
    attributes: Object.keys(attributes).length === 0 ? undefined : attributes,
    ...Object.fromEntries((Object.keys(textFilters) as TextFilter[]).map((name) => [name, text(name)])),
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as TraceFilters;
});

/** The attributes to filter by; none if the parameter is not the JSON of an object of texts, numbers and booleans. */
export const attributeFilters = computed<Readonly<Record<string, string>>>(() => {
  try {
    const parsed: unknown = JSON.parse(parameters.value.get("attributes") ?? "{}");
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return {};
    const known = Object.entries(parsed).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
    return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
  } catch {
    return {};
  }
});

export function setAttributeFilter(name: string, value: string | undefined): void {
  const { [name]: _, ...others } = attributeFilters.value;
  const attributes = value === undefined ? others : { ...others, [name]: value };
  setParameters({ attributes: Object.keys(attributes).length === 0 ? undefined : JSON.stringify(attributes) });
}

export interface Chip {
  readonly name: string;
  readonly value: string;
  remove(): void;
}

/** The filters that have no control of their own, as chips that can be removed. */
export const chips = computed<readonly Chip[]>(() => {
  const { min_duration_ms: least, max_duration_ms: most, ...filters } = traceFilters.value;
  const found: Chip[] = (Object.keys(textFilters) as TextFilter[]).flatMap((parameter) => {
    const value = filters[parameter];
    if (value == null || parameter === "search") return [];
    return [{ name: textFilters[parameter], value, remove: () => setParameters({ [parameter]: undefined }) }];
  });
  if (least != null || most != null) {
    const value =
      most == null
        ? `at least ${formatDuration(least!)}`
        : least == null
          ? `at most ${formatDuration(most)}`
          : `${formatDuration(least)} – ${formatDuration(most)}`;
    const remove = () => setParameters({ min_duration_ms: undefined, max_duration_ms: undefined });
    found.push({ name: "Span duration", value, remove });
  }
  for (const [name, value] of Object.entries(attributeFilters.value)) {
    found.push({ name, value, remove: () => setAttributeFilter(name, undefined) });
  }
  return found;
});

/** Whether the list shows less than all traces of the time range. */
export const isFiltered = computed(() => {
  const { trace, ...others } = traceFilters.value;
  return trace !== defaultPreset || Object.keys(others).length > 0;
});

export function clearFilters(): void {
  setParameters({
    trace: undefined,
    project: undefined,
    status: undefined,
    min_duration_ms: undefined,
    max_duration_ms: undefined,
    attributes: undefined,
    ...Object.fromEntries(Object.keys(textFilters).map((name) => [name, undefined])),
  });
}

/** The ID of a trace, also within a W3C `traceparent`. */
export function traceIdIn(text: string): string | undefined {
  const trimmed = text.trim().toLowerCase();
  return /^(?:[0-9a-f]{2}-)?(?<id>[0-9a-f]{32})(?:-[0-9a-f]{16}-[0-9a-f]{2})?$/.exec(trimmed)?.groups?.["id"];
}

function isStatus(text: string | undefined): text is Status {
  return text !== undefined && Object.hasOwn(statuses, text);
}
