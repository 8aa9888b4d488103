/** Label sets: immutable, sorted by name, with a key that is equal exactly when the sets are. */
import { quoteForMessage } from "../syntax/string-literal.ts";

export interface Labels {
  /** Name, value, name, value …, sorted by name; no empty values, but for labels that a LogQL query reads from lines. */
  readonly pairs: readonly string[];
  readonly key: string;
}

/** The labels that identify a metric; arithmetic removes them. */
export const metadataLabels: ReadonlySet<string> = new Set(["__name__", "__type__", "__unit__"]);

export const emptyLabels: Labels = Object.freeze({ pairs: Object.freeze([]), key: "" });

/** A set from names and values in any order. Empty values are dropped: they mean "no such label". */
export function labelsFrom(entries: Iterable<readonly [name: string, value: string]>): Labels {
  const sorted = [...entries].filter(([, value]) => value !== "").sort(([left], [right]) => compareText(left, right));
  return fromSortedPairs(sorted.flat());
}

/** The same, but a label may have an empty value: LogQL tells it from a label that is absent. */
export function labelsWithEmptyValues(entries: readonly (readonly [name: string, value: string])[]): Labels {
  return fromSortedPairs(entries.toSorted(([left], [right]) => compareText(left, right)).flat());
}

function fromSortedPairs(pairs: readonly string[]): Labels {
  return pairs.length === 0 ? emptyLabels : Object.freeze({ pairs, key: keyOf(pairs) });
}

function keyOf(pairs: readonly string[]): string {
  for (const part of pairs) {
    // JSON has no NUL and the plain form always has one, so the two never meet.
    if (part.includes("\0")) return JSON.stringify(pairs);
  }
  return pairs.join("\0");
}

/** A label's value, or "" if the set has no such label. */
export function getLabel(labels: Labels, name: string): string {
  const { pairs } = labels;
  for (let index = 0; index < pairs.length; index += 2) {
    if (pairs[index] === name) return pairs[index + 1]!;
  }
  return "";
}

/** The labels as name and value. */
export function* entriesOf(labels: Labels): Generator<readonly [name: string, value: string]> {
  for (let index = 0; index < labels.pairs.length; index += 2) {
    yield [labels.pairs[index]!, labels.pairs[index + 1]!];
  }
}

/** The labels whose names are in the set. */
export function keepLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return filterLabels(labels, (name) => names.has(name));
}

/** The labels whose names are not in the set. */
export function dropLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return filterLabels(labels, (name) => !names.has(name));
}

/** The same, also without labels that have an empty value: `without` and `ignoring` do not see them. */
export function ignoreLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return filterLabels(labels, (name, value) => value !== "" && !names.has(name));
}

function filterLabels(labels: Labels, keep: (name: string, value: string) => boolean): Labels {
  const kept: string[] = [];
  const { pairs } = labels;
  for (let index = 0; index < pairs.length; index += 2) {
    if (keep(pairs[index]!, pairs[index + 1]!)) kept.push(pairs[index]!, pairs[index + 1]!);
  }
  return kept.length === pairs.length ? labels : fromSortedPairs(kept);
}

/** The set with some labels set, or removed by an empty value. */
export function setLabels(labels: Labels, changes: ReadonlyMap<string, string>): Labels {
  return labelsFrom(new Map([...entriesOf(labels), ...changes]));
}

/** The order of results: by name, then value, label by label. A set sorts before its supersets. */
export function compareLabels(left: Labels, right: Labels): number {
  const shorter = Math.min(left.pairs.length, right.pairs.length);
  for (let index = 0; index < shorter; index++) {
    const order = compareText(left.pairs[index]!, right.pairs[index]!);
    if (order !== 0) return order;
  }
  return left.pairs.length - right.pairs.length;
}

/** Text in the order of its code points, which is the order of its UTF-8 bytes. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const shorter = Math.min(left.length, right.length);
  let index = 0;
  while (index < shorter && left.charCodeAt(index) === right.charCodeAt(index)) index++;
  if (index === shorter) return left.length - right.length;
  const leftUnit = left.charCodeAt(index);
  const rightUnit = right.charCodeAt(index);
  // Surrogates encode code points above U+FFFF, yet their code units sort before U+E000.
  const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
  if (isSurrogate(leftUnit) !== isSurrogate(rightUnit)) return isSurrogate(leftUnit) ? 1 : -1;
  return leftUnit - rightUnit;
}

/** The set as Prometheus shows it: `{__name__="up", job="api"}`. */
export function printLabels(labels: Labels): string {
  return `{${[...entriesOf(labels)].map(([name, value]) => `${printName(name)}=${quoteForMessage(value)}`).join(", ")}}`;
}

function printName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoteForMessage(name);
}
