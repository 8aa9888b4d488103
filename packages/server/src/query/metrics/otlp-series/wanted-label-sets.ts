/** Lists the labels of OTLP series for lists of label names and values, without one row per series. */
import { inputLimit } from "../../../input-limits.ts";
import { labelsFrom, type Labels } from "@sounding/promql/series/labels";
import { isFromPrometheus, isTargetInfo } from "../../../store/row-expressions.ts";
import { bind, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import { toText } from "../../attribute-values.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import { lookUpResources } from "../../resource-lookup.ts";
import { isMatchedBy } from "../label-matching.ts";
import { seenSinceCondition } from "./otlp-catalog.ts";
import { listedLabelSets } from "./listed-label-sets.ts";
import { partLabelOf, type OtlpSeriesName } from "./otlp-metric.ts";
import { isOwnLabel, otlpLabels, type OtlpSeriesRow } from "./otlp-labels.ts";
import { labelsOf } from "./otlp-series.ts";
import { labelName } from "./prometheus-names.ts";
import { findSeries, partLabels, seriesCost, type OtlpQuery, type OtlpRequest } from "./series-lookup.ts";
import { labelsOfAttribute, needsAttributes, wantedColumns, withSources, type WantedLabels } from "./wanted-labels.ts";

export type WantedRequest = OtlpRequest & { readonly wanted: WantedLabels };

/** Of a label with a value per series. */
const maximumCombinations = inputLimit({
  area: "PromQL",
  bounds: "Distinct values in a list of label values",
  value: 5_000_000,
  error: "invalid_request",
});

/** Label sets that together have every wanted name and value of the series that match. */
export async function wantedLabelSets(request: WantedRequest, query: OtlpQuery): Promise<Labels[]> {
  const { names, wanted, yieldBudget } = request;
  const isWantedPart = (name: OtlpSeriesName): boolean => {
    const label = partLabelOf(name);
    // An attribute of that name gives way.
    return label !== undefined && (wanted.values.has(label) || wanted.values.has(`exported_${label}`));
  };
  const wantedParts = names.filter(isWantedPart);
  const others = wantedParts.length === 0 ? names : names.filter((name) => !isWantedPart(name));
  const sets = await setsWithoutParts({ ...request, names: others }, query);
  if (wantedParts.length === 0) return sets;
  // Values of `le` and `quantile` are only in the points. Series without such a label may have an attribute of that name.
  const listed = await listedLabelSets({ ...request, columns: undefined, names: wantedParts }, query);
  const matchers = request.matchers.filter(({ name }) => name === "le" || name === "quantile");
  for (const labels of sets) {
    if (await isMatchedBy(labels, matchers, yieldBudget)) listed.push(labels);
    if (yieldBudget.spend(1)) await yieldBudget.yield();
  }
  return listed;
}

async function setsWithoutParts(request: WantedRequest, query: OtlpQuery): Promise<Labels[]> {
  const { names, wanted, yieldBudget } = request;
  if (names.length === 0) return [];
  const isNamed = wanted.values.has("__name__") || request.matchers.some(({ name }) => name === "__name__");
  const hasMapping = names.some(({ mapping }) => mapping !== undefined);
  const complete = hasMapping ? withSources(wanted) : wanted;
  const attributeNames = needsAttributes(complete) ? await readAttributeNames(request, query) : [];
  // Without a matcher on the name, only metrics that appear as metrics over spans are looked at one by one, and parts with a label.
  const isSingle = (name: OtlpSeriesName): boolean =>
    name.mapping !== undefined || (wanted.names && partLabelOf(name) !== undefined);
  const single = isNamed ? names : names.filter(isSingle);
  const sets: Labels[] = [];
  const choice = { attributeNames, withResources: request.matchers.length > 0 };
  if (wanted.names && !choice.withResources) sets.push(...(await readIdentityNames(request, query)));
  const columns = { statement: wantedColumns(complete, choice), maximumRows: maximumCombinations };
  for (const { name, series } of single.length === 0
    ? []
    : await findSeries({ ...request, names: single, columns }, query)) {
    const part = wanted.names ? partLabelOf(name) : undefined;
    sets.push(labelsOf(name, series, part && [part, anyValue]));
    if (yieldBudget.spend(seriesCost)) await yieldBudget.yield();
  }
  if (isNamed) return sets;
  const others = names.filter(({ mapping }) => mapping === undefined).map(({ metric }) => metric.metric);
  if (others.length === 0) return sets;
  const known = new Set(others);
  const except = new Set(single.map(({ metric }) => metric.metric).filter((metric) => !known.has(metric)));
  const conditions = allOf([
    ...seriesConditions(request, query),
    except.size === 0 ? undefined : sql`metric NOT IN ${bind.texts([...except])}`,
  ]);
  const attribute = soleAttribute(request, attributeNames);
  const found =
    attribute === undefined
      ? await readCombinations({ ...request, conditions, columns: wantedColumns(wanted, choice) }, query)
      : await readAttributeValues({ ...request, conditions, attribute }, query);
  return sets.length === 0 ? found : [...sets, ...found];
}

function seriesConditions({ fromMs }: Pick<OtlpRequest, "fromMs">, { project }: OtlpQuery): (Statement | undefined)[] {
  return [
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    sql`NOT ${isTargetInfo}`,
    seenSinceCondition(fromMs),
  ];
}

/** `job` and `instance`, if any process has them. */
async function readIdentityNames({ charge, fromMs, signal }: WantedRequest, query: OtlpQuery): Promise<Labels[]> {
  const has = (...names: readonly string[]): Statement =>
    sql`max(hasAny(mapKeys(mapFilter((name, value) -> value != '', attributes)), ${bind.texts(names)}))`;
  const [row] = await query.reader.query<{ job: number; instance: number }>(
    sql`SELECT ${has("service.name", "service.namespace")} AS job, ${has("service.instance.id")} AS instance
      FROM resources WHERE organization = ${callerOrganization}
        AND resource_id IN (SELECT resource_id FROM series WHERE ${allOf(seriesConditions({ fromMs }, query))})`,
    { signal, memory: { add: charge }, duplicates: "kept" },
  );
  const named = (["job", "instance"] as const).filter((name) => row?.[name] === 1);
  return [labelsFrom(named.map((name) => [name, anyValue]))];
}

async function readAttributeNames(request: WantedRequest, query: OtlpQuery): Promise<string[]> {
  const { charge, signal } = request;
  const rows = await query.reader.query<{ name: string }>(
    sql`SELECT DISTINCT arrayJoin(mapKeys(attributes)) AS name FROM series WHERE ${allOf(seriesConditions(request, query))}`,
    { signal, memory: { add: charge }, duplicates: "kept" },
  );
  return rows.map(({ name }) => name);
}

interface CombinationsRequest extends Omit<WantedRequest, "columns"> {
  readonly conditions: Statement;
  readonly columns: Statement;
}

async function readCombinations(
  { charge, columns, conditions, matchers, signal, yieldBudget }: CombinationsRequest,
  { reader }: OtlpQuery,
): Promise<Labels[]> {
  const options = { signal, memory: { add: charge }, duplicates: "kept" } as const;
  const rows = await reader.query<OtlpSeriesRow>(sql`SELECT DISTINCT ${columns} FROM series WHERE ${conditions}`, {
    ...options,
    maximumRows: maximumCombinations,
  });
  const descriptions = await lookUpResources(reader, rows, options);
  const ofSeries = matchers.filter(({ name }) => !partLabels.has(name));
  const found: Labels[] = [];
  for (const row of rows) {
    const labels = otlpLabels(row, descriptions);
    if (await isMatchedBy(labels, ofSeries, yieldBudget)) found.push(labelsFrom([...labels, ["__name__", anyValue]]));
    if (yieldBudget.spend(seriesCost)) await yieldBudget.yield();
  }
  return found;
}

/** Of a label that every series has, whose values are not read. */
const anyValue = "x";

interface SoleAttribute {
  readonly label: string;
  readonly name: string;
}

/** The attribute that alone determines the only wanted label. */
function soleAttribute({ wanted }: WantedRequest, attributeNames: readonly string[]): SoleAttribute | undefined {
  const [label, ...more] = wanted.values;
  if (wanted.names || label === undefined || more.length > 0) return undefined;
  if (isOwnLabel(label) || label.startsWith("exported_")) return undefined;
  const [name, ...others] = attributeNames.filter((each) => labelsOfAttribute(each).includes(label));
  return name === undefined || others.length > 0 ? undefined : { label, name };
}

/** As columns, because there may be a value per series. */
async function readAttributeValues(
  request: WantedRequest & { readonly conditions: Statement; readonly attribute: SoleAttribute },
  { reader }: OtlpQuery,
): Promise<Labels[]> {
  const { attribute, charge, conditions, matchers, signal, yieldBudget } = request;
  const name = bind.text(attribute.name);
  const translated = labelName(attribute.name);
  const isNamedSo =
    translated === attribute.name
      ? sql`1`
      : attribute.label === translated
        ? sql`NOT ${isFromPrometheus}`
        : isFromPrometheus;
  const blocks = await reader.columns(
    sql`SELECT DISTINCT attributes[${name}] AS value,
        substring(attribute_types, indexOf(mapKeys(attributes), ${name}), 1) AS kind
      FROM series WHERE ${conditions} AND value != '' AND ${isNamedSo}`,
    { signal, memory: { add: charge }, duplicates: "kept", maximumRows: maximumCombinations },
  );
  const found: Labels[] = [];
  for (const { columns, rowCount } of blocks) {
    const values = columns.get("value") as readonly string[];
    const kinds = columns.get("kind") as readonly string[];
    for (let row = 0; row < rowCount; row += 1) {
      const labels = labelsFrom([[attribute.label, toText(values[row]!, kinds[row]!)]]);
      const isMatched = isMatchedBy(labels, matchers, yieldBudget);
      // Most are known at once, and waiting for each of a million costs more than matching it.
      if (isMatched === true || (isMatched !== false && (await isMatched))) found.push(labels);
      if (yieldBudget.spend(1)) await yieldBudget.yield();
    }
  }
  return found;
}
