/** The filters of the view "Logs": in the address under the names of the API, and as the body of a query. */
import { computed } from "@preact/signals";
import type { LogsQueryParams } from "@sounding/client";
import { parameters, setParameters, type ParameterChanges } from "../../state/address.ts";
import type { ValueFilter } from "./label-filter.ts";
import { levels, type Level } from "./log-entry.ts";

export type LogsFilter = Pick<
  LogsQueryParams,
  | "attributes"
  | "exclude_attributes"
  | "exclude_projects"
  | "exclude_services"
  | "project_name"
  | "search"
  | "service_name"
  | "severities"
  | "span_id"
  | "trace_id"
>;

/** The filter except the levels, as JSON: a signal of text changes only if the filter does. */
export const filterText = computed(() => JSON.stringify(readFilter(parameters.value)));

/** The levels that are shown, all if none is named. */
export const shownLevels = computed(() => {
  const named = levels.filter((level) => parameters.value.getAll("severities").includes(level));
  return named.length === 0 ? levels : named;
});
const levelsText = computed(() => JSON.stringify(shownLevels.value));

/** The complete filter as JSON. */
export const queryText = computed(() => {
  const severities = JSON.parse(levelsText.value) as Level[];
  const filter = JSON.parse(filterText.value) as LogsFilter;
  return JSON.stringify(severities.length === levels.length ? filter : { ...filter, severities });
});

function readFilter(query: URLSearchParams): LogsFilter {
  const one = (name: string) => query.get(name) || undefined;
  const several = (name: string) => (query.has(name) ? query.getAll(name) : undefined);
  const excluded = new Map<string, string[]>();
  for (const [name, value] of query.getAll("exclude_attributes").map(readPair))
    excluded.set(name, [...(excluded.get(name) ?? []), value]);
  return {
    search: one("search"),
    project_name: one("project"),
    service_name: one("service_name"),
    trace_id: one("trace_id"),
    span_id: one("span_id"),
    attributes: query.has("attributes") ? Object.fromEntries(query.getAll("attributes").map(readPair)) : undefined,
    exclude_services: several("exclude_services"),
    exclude_projects: several("exclude_projects"),
    exclude_attributes: excluded.size === 0 ? undefined : Object.fromEntries(excluded),
  };
}

/** `name=value`; a name's own `=` and `%` are percent-encoded. */
function writePair(name: string, value: string): string {
  return `${name.replaceAll("%", "%25").replaceAll("=", "%3D")}=${value}`;
}

function readPair(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  return [name.replaceAll("%3D", "=").replaceAll("%25", "%"), at < 0 ? "" : text.slice(at + 1)];
}

/** Shows only entries with a value, or none of them. */
export function filterBy(filter: ValueFilter, exclude: boolean): void {
  setParameters(changesFor(filter, exclude));
}

function changesFor(filter: ValueFilter, exclude: boolean): ParameterChanges {
  const query = parameters.value;
  const added = (name: string, value: string) => [...new Set([...query.getAll(name), value])];
  const without = (name: string, value: string) => query.getAll(name).filter((each) => each !== value);
  switch (filter.kind) {
    case "severity": {
      const rest = shownLevels.value.filter((level) => level !== filter.value);
      return { severities: exclude ? rest : [filter.value] };
    }
    case "service":
      return exclude
        ? { exclude_services: added("exclude_services", filter.value), ...dropped("service_name", filter.value) }
        : { service_name: filter.value, exclude_services: without("exclude_services", filter.value) };
    case "project":
      return exclude
        ? { exclude_projects: added("exclude_projects", filter.value), ...dropped("project", filter.value) }
        : { project: filter.value, exclude_projects: without("exclude_projects", filter.value) };
    case "trace":
      return { [filter.name]: filter.value };
    case "attribute": {
      const pair = writePair(filter.name, filter.value);
      const otherNames = query.getAll("attributes").filter((each) => readPair(each)[0] !== filter.name);
      return exclude
        ? { exclude_attributes: added("exclude_attributes", pair), attributes: without("attributes", pair) }
        : { attributes: [...otherNames, pair], exclude_attributes: without("exclude_attributes", pair) };
    }
  }
}

function dropped(name: string, value: string): ParameterChanges {
  return parameters.value.get(name) === value ? { [name]: undefined } : {};
}

/** Shows a level or not; from all levels, only this one. */
export function toggleLevel(level: Level): void {
  const shown = shownLevels.value;
  const next =
    shown.length === levels.length
      ? [level]
      : levels.filter((each) => (each === level ? !shown.includes(each) : shown.includes(each)));
  setParameters({ severities: next.length === levels.length ? undefined : next });
}

/** A filter that can be removed. */
export interface FilterChip {
  readonly name: string;
  readonly value: string;
  readonly excluded: boolean;
  remove(): void;
}

const singleFilters = [
  ["project", "project"],
  ["service_name", "service"],
  ["trace_id", "trace"],
  ["span_id", "span"],
] as const;
const listFilters = [
  ["attributes", undefined, false],
  ["exclude_services", "service", true],
  ["exclude_projects", "project", true],
  ["exclude_attributes", undefined, true],
] as const;

export function filterChips(): FilterChip[] {
  const query = parameters.value;
  const singles = singleFilters.flatMap(([parameter, name]) => {
    const value = query.get(parameter);
    if (value === null || value === "") return [];
    return [{ name, value, excluded: false, remove: () => setParameters({ [parameter]: undefined }) }];
  });
  const lists = listFilters.flatMap(([parameter, fixedName, excluded]) =>
    query.getAll(parameter).map((text) => {
      const [name, value] = fixedName === undefined ? readPair(text) : [fixedName, text];
      const remove = () => setParameters({ [parameter]: query.getAll(parameter).filter((each) => each !== text) });
      return { name, value, excluded, remove };
    }),
  );
  return [...singles, ...lists];
}

export function clearFilters(): void {
  const names = ["search", "severities", ...singleFilters.map(([name]) => name), ...listFilters.map(([name]) => name)];
  setParameters(Object.fromEntries(names.map((name) => [name, undefined])));
}

export const isFiltered = computed(() => queryText.value !== "{}");
