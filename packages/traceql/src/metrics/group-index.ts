/** Sorts spans into groups by the values of fields. */
import type { Budget } from "@sounding/promql/evaluate/budget";
import { fieldReader, type Field } from "../spans/read-field.ts";
import type { NamedValue } from "../spans/spanset.ts";
import { keyOf, stringValue } from "../spans/static-value.ts";
import type { TraceView } from "../spans/trace-view.ts";
import type { StaticValue } from "../syntax/ast.ts";
import { printField } from "../spans/print-element.ts";
import { labelValue, nameLabel, seriesKey } from "./series.ts";

interface GroupOptions<Group> {
  readonly by: readonly Field[];
  /** The `__name__` of the only group of a query without `by`; null if its series have other labels. */
  readonly name: string | null;
  readonly budget: Budget;
  create(labels: readonly NamedValue[]): Group;
}

/** The cost of a group's labels in memory. */
const bytesOfGroup = 512;

export class GroupIndex<Group> {
  readonly #options: GroupOptions<Group>;
  readonly #readers: readonly ReturnType<typeof fieldReader>[];
  /** By the exact values. */
  readonly #byValues = new Map<string, Group>();
  /** By labels, which are equal for some values of different types. */
  readonly #byLabels = new Map<string, Group>();

  constructor(options: GroupOptions<Group>) {
    this.#options = options;
    this.#readers = options.by.map(fieldReader);
  }

  get groups(): Iterable<Group> {
    return this.#byLabels.values();
  }

  ofSpan(view: TraceView, index: number): Group {
    return this.ofValues(this.#readers.map((read) => read(view, index)));
  }

  /** The group with these values of the fields. */
  ofValues(values: readonly StaticValue[]): Group {
    const key = keyOfGroup(values);
    const known = this.#byValues.get(key);
    if (known !== undefined) return known;
    const { budget, create } = this.#options;
    const labels = this.#labelsOf(values);
    const labelKey = seriesKey(labels);
    const group = this.#byLabels.get(labelKey) ?? create(labels);
    this.#byValues.set(key, group);
    this.#byLabels.set(labelKey, group);
    budget.holdBytes(bytesOfGroup + 4 * (key.length + labelKey.length));
    budget.checkSeries(this.#byLabels.size, "the query");
    return group;
  }

  /** Without what a span lacks; a series for spans that lack everything has the first label as "nil". */
  #labelsOf(values: readonly StaticValue[]): readonly NamedValue[] {
    const { by, name } = this.#options;
    const labels = by.flatMap((field, index) => {
      const value = values[index]!;
      return value.type === "nil" ? [] : [{ name: printField(field), value: labelValue(value) }];
    });
    if (labels.length > 0 || name === null) return labels;
    return by.length > 0
      ? [{ name: printField(by[0]!), value: stringValue("nil") }]
      : [{ name: nameLabel, value: stringValue(name) }];
  }
}

/** Equal for equal values of the same types. */
export function keyOfGroup(values: readonly StaticValue[]): string {
  return values.length === 1 ? keyOf(values[0]!) : JSON.stringify(values.map(keyOf));
}
