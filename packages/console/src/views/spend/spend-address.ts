/** What the view "Spend" shows, as its address says: the dimension, and filters under the names of the API. */
import { computed } from "@preact/signals";
import { href, parameters } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import type { Moments } from "../../state/time-range.ts";

export const dimensions = {
  model: "Model",
  user: "User",
  key: "API key",
  project: "Project",
  engine: "Engine",
  tag: "Tag",
  organization: "Organization",
} as const;
export type Dimension = keyof typeof dimensions;

/** The name of a dimension within a sentence. */
export function inSentence(name: string): string {
  return name.startsWith("API") ? name : name.toLowerCase();
}

/** The API's name of the filter of a dimension. */
export const filterNames = {
  model: "model",
  user: "user_id",
  key: "key_id",
  project: "project",
  engine: "engine",
  organization: "organization_id",
} as const;
type FilteredDimension = keyof typeof filterNames;

/** Attributes of spans, by which the traces of a group are found. */
const engineAttribute = "sounding.engine";
const tagPrefix = "sounding.metadata.";

export const dimension = computed<Dimension>(() => {
  const by = parameters.value.get("by") ?? "model";
  const isKnown = Object.hasOwn(dimensions, by) && (by !== "organization" || mayReadAll.value);
  return isKnown ? (by as Dimension) : "model";
});

/** The name in the metadata of requests. */
export const tagName = computed(() => parameters.value.get("tag") || "team");

/** Only operators see other organizations than their own. */
export const mayReadAll = computed(() => session.value?.operator === true);

export interface SpendFilter {
  readonly dimension: FilteredDimension;
  /** The parameter of the address. */
  readonly name: string;
  readonly value: string;
}

/** The filters of the address. The project has a control of its own. */
export const filters = computed<readonly SpendFilter[]>(() =>
  (Object.keys(filterNames) as FilteredDimension[]).flatMap((each) => {
    const name = filterNames[each];
    const value = parameters.value.get(name);
    return value === null || each === "project" ? [] : [{ dimension: each, name, value }];
  }),
);

/** The traces of calls in a time range, with the filters and, if there is one, a group; undefined if they cannot be found. */
export function callsAddress(
  { endMs, startMs }: Moments,
  group?: { readonly value: string | null },
): string | undefined {
  const filtered = new Map<string, string | undefined>(filters.value.map(({ name, value }) => [name, value]));
  filtered.set("project", parameters.value.get("project") ?? undefined);
  const attributes: Record<string, string> = {};
  if (group !== undefined) {
    const { value } = group;
    if (value === null || dimension.value === "organization") return undefined;
    if (dimension.value === "tag") attributes[tagPrefix + tagName.value] = value;
    else filtered.set(filterNames[dimension.value], value);
  }
  // Traces have no filter of organizations: those of others are not the session's.
  if (filtered.has("organization_id") || [...filtered.values()].includes("")) return undefined;
  const engine = filtered.get("engine");
  filtered.delete("engine");
  if (engine !== undefined) attributes[engineAttribute] = engine;
  return href("traces", {
    ...Object.fromEntries(filtered),
    trace: "inference_traces",
    from: new Date(startMs).toISOString(),
    to: new Date(endMs).toISOString(),
    attributes: Object.keys(attributes).length === 0 ? undefined : JSON.stringify(attributes),
  });
}
