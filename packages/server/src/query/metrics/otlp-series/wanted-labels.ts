/**
 * Reads series only as far as a list of labels needs them: series that differ in other labels only are one row. A list of
 * label names or values then costs one pass over the series, however many there are.
 * docs/adr/0025-promql-and-metrics.md
 */
import { isFromPrometheus } from "../../../store/row-expressions.ts";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { labelName } from "./prometheus-names.ts";
import { semconvSources } from "./semconv-mapping.ts";

export interface WantedLabels {
  /** Labels whose values are needed, by the list or by a matcher. */
  readonly values: ReadonlySet<string>;
  /** Whether the names of all other labels are needed too. */
  readonly names: boolean;
}

/** The wanted labels, and those from which they can be derived. */
export function withSources({ names, values }: WantedLabels): WantedLabels {
  return { names, values: new Set([...values, ...semconvSources(values)]) };
}

/** Whether attributes are needed, so that their names must be read first. */
export function needsAttributes({ values }: WantedLabels): boolean {
  return [...values].some((name) => !ownLabels.has(name));
}

const ownLabels: ReadonlySet<string> = new Set([
  "__name__",
  "job",
  "instance",
  "otel_scope_name",
  "otel_scope_version",
  "project_name",
  "service_name",
]);

/**
 * The columns that labels are made of. What is not wanted is constant; of names without values, the value is `x`.
 * @param withResources whether `job` and `instance` are read for a list of names, which needs them for matchers only
 */
export function wantedColumns(
  wanted: WantedLabels,
  { attributeNames, withResources }: { readonly attributeNames: readonly string[]; readonly withResources: boolean },
): Statement {
  const { names, values } = wanted;
  const ofColumn = (column: Statement, label: string): Statement => {
    if (values.has(label)) return column;
    return names ? sql`if(${column} = '', '', 'x')` : sql`''`;
  };
  const has = (...labels: readonly string[]): boolean => labels.some((label) => values.has(label));
  const isScoped = names || has("otel_scope_name", "otel_scope_version");
  const isExported = [...ownLabels].some((label) => has(`exported_${label}`));
  return sql`${ofColumn(sql`project`, "project_name")} AS project, ${ofColumn(sql`service`, "service_name")} AS service,
    ${(names && withResources) || has("job", "instance") ? sql`resource_id` : sql`toUInt64(0)`} AS resource_id,
    ${isScoped || isExported ? sql`scope_id` : sql`toUInt64(0)`} AS scope_id, ${attributeColumns(wanted, attributeNames)}`;
}

function attributeColumns({ names, values }: WantedLabels, attributeNames: readonly string[]): Statement {
  const wanted = attributeNames.filter((name) =>
    labelsOfAttribute(name).some((label) => values.has(label) || values.has(`exported_${label}`)),
  );
  const kinds = sql`arrayMap(at -> substring(attribute_types, at, 1), range(1, length(attributes) + 1))`;
  const isWanted = sql`has(${bind.texts(wanted)}, name)`;
  if (names) {
    // Reading only names is several times faster. It lists a label even if its value is empty in every series.
    const kept =
      wanted.length === 0
        ? sql`arrayMap(name -> 'x', mapKeys(attributes)) AS attribute_values, '' AS attribute_types`
        : sql`arrayMap((name, value) -> if(${isWanted}, value, 'x'), mapKeys(attributes), mapValues(attributes))
              AS attribute_values,
            arrayStringConcat(arrayMap((name, kind) -> if(kind != '' AND ${isWanted}, kind, 's'), mapKeys(attributes), ${kinds}))
              AS attribute_types`;
    return sql`mapKeys(attributes) AS attribute_names, ${kept}, ${isFromPrometheus} AS from_prometheus`;
  }
  if (wanted.length === 0) {
    return sql`emptyArrayString() AS attribute_names, emptyArrayString() AS attribute_values, '' AS attribute_types,
      0 AS from_prometheus`;
  }
  return sql`arrayFilter(name -> ${isWanted}, mapKeys(attributes)) AS attribute_names,
    arrayFilter((value, name) -> ${isWanted}, mapValues(attributes), mapKeys(attributes)) AS attribute_values,
    arrayStringConcat(arrayFilter((kind, name) -> ${isWanted}, ${kinds}, mapKeys(attributes))) AS attribute_types,
    ${isFromPrometheus} AS from_prometheus`;
}

/** The labels that an attribute can be: its own name in series of remote write, the translated one in others. */
export function labelsOfAttribute(name: string): readonly string[] {
  const label = labelName(name);
  return label === name ? [name] : [name, label];
}
