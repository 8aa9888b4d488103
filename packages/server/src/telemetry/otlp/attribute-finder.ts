/** Finds attributes of known names among a record's attributes: for each target the best of several names. */
import type { FixedColumn, StringColumn } from "../../store/column-writers.ts";
import { AnyValueReader, doubleKind, integerKind, stringKind } from "./any-value.ts";
import type { AttributeReader } from "./attributes.ts";
import { doubleAt, int64At } from "./numbers.ts";

/** A name that a target may come under; with `values`, only those values count, and become others. */
export interface AttributeSource {
  readonly name: string;
  readonly values?: Readonly<Record<string, string>>;
}

interface Candidate {
  readonly target: number;
  readonly rank: number;
  readonly name: Uint8Array;
  readonly values: Readonly<Record<string, string>> | undefined;
}

/** Names by their length, made once for all records. */
export class AttributeNames<Target extends string> {
  /** The position of each target, by which an `AttributeFinder` is asked for it. */
  readonly targets: Readonly<Record<Target, number>>;
  /** By the name's length in bytes. */
  readonly byLength: (Candidate[] | undefined)[] = [];

  /** @param sources for each target its names, the best first */
  constructor(sources: Readonly<Record<Target, readonly (string | AttributeSource)[]>>) {
    const keys = Object.keys(sources) as Target[];
    this.targets = Object.fromEntries(keys.map((key, position) => [key, position])) as Record<Target, number>;
    for (const [target, key] of keys.entries()) {
      for (const [rank, source] of sources[key].entries()) {
        const { name: text, values } = typeof source === "string" ? { name: source, values: undefined } : source;
        const name = Buffer.from(text, "utf8");
        (this.byLength[name.length] ??= []).push({ target, rank, name, values });
      }
    }
  }
}

const noRank = 255;

/** What was found in one record; `reset` before the next. */
export class AttributeFinder<Target extends string> {
  readonly #names: AttributeNames<Target>;
  readonly #ranks: Uint8Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #values: (Candidate["values"] | undefined)[];
  readonly #value = new AnyValueReader();

  constructor(names: AttributeNames<Target>) {
    this.#names = names;
    const count = Object.keys(names.targets).length;
    this.#ranks = new Uint8Array(count).fill(noRank);
    this.#starts = new Int32Array(count);
    this.#ends = new Int32Array(count);
    this.#values = Array.from({ length: count }, () => undefined);
  }

  reset(): void {
    this.#ranks.fill(noRank);
  }

  /** Looks at one attribute of the record. */
  note(bytes: Uint8Array, attribute: AttributeReader): void {
    const { keyStart, keyEnd } = attribute;
    const candidates = this.#names.byLength[keyEnd - keyStart];
    if (candidates === undefined || attribute.valueStart === attribute.valueEnd) return;
    for (let index = 0; index < candidates.length; index += 1) {
      const { target, rank, name, values } = candidates[index]!;
      if (rank >= this.#ranks[target]! || !isAt(bytes, keyStart, name)) continue;
      this.#ranks[target] = rank;
      this.#starts[target] = attribute.valueStart;
      this.#ends[target] = attribute.valueEnd;
      this.#values[target] = values;
      return;
    }
  }

  /** The value as text; empty when there is none. */
  text(target: number, bytes: Uint8Array): string {
    if (this.#ranks[target] === noRank) return "";
    this.#value.read(bytes, this.#starts[target]!, this.#ends[target]!);
    const values = this.#values[target];
    const text = this.#value.text(bytes);
    if (values === undefined) return text;
    return Object.hasOwn(values, text) ? values[text]! : "";
  }

  /** The value when it is a string that is not empty. */
  stringValue(target: number, bytes: Uint8Array): string | undefined {
    if (this.#ranks[target] === noRank) return undefined;
    this.#value.read(bytes, this.#starts[target]!, this.#ends[target]!);
    if (this.#value.kind !== stringKind || this.#value.start === this.#value.end) return undefined;
    return this.#value.text(bytes);
  }

  writeText(column: StringColumn, target: number, bytes: Uint8Array): void {
    if (this.#ranks[target] === noRank) column.addDefault();
    else if (this.#values[target] === undefined) {
      this.#value.read(bytes, this.#starts[target]!, this.#ends[target]!);
      this.#value.write(column, bytes);
    } else column.text(this.text(target, bytes));
  }

  /** Writes a count: a whole number, also one that came as a double or as text; 0 for anything else. */
  writeCount(column: FixedColumn, target: number, bytes: Uint8Array): void {
    if (this.#ranks[target] === noRank) column.addDefault();
    else column.unsigned(this.#count(target, bytes));
  }

  #count(target: number, bytes: Uint8Array): number {
    this.#value.read(bytes, this.#starts[target]!, this.#ends[target]!);
    const { kind, start } = this.#value;
    let count = Number.NaN;
    if (kind === integerKind) count = int64At(bytes, start);
    else if (kind === doubleKind) count = doubleAt(bytes, start);
    else if (kind === stringKind) count = Number(this.#value.text(bytes));
    return count >= 0 && count <= Number.MAX_SAFE_INTEGER ? Math.trunc(count) : 0;
  }
}

function isAt(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  // Names of one length differ at their end more often than at their beginning.
  for (let index = name.length - 1; index >= 0; index -= 1) if (bytes[start + index] !== name[index]) return false;
  return true;
}
