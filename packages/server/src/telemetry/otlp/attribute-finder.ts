/** Finds known attributes among a record's attributes; if one has several names, the best one counts. */
import type { FixedColumn, StringColumn } from "../../store/column-writers.ts";
import { kindCodes } from "../rows/attribute-kinds.ts";
import { AnyValueReader } from "./any-value.ts";
import type { AttributeSource, KnownAttributes } from "../rows/known-attributes.ts";
import type { AttributeReader } from "./attributes.ts";
import { doubleAt, int64At } from "../../protobuf/numbers.ts";

interface Candidate {
  /** The attribute's position (`positionsOf`). */
  readonly target: number;
  readonly rank: number;
  readonly name: Uint8Array;
  readonly values: AttributeSource["values"];
}

/** Names by their length, prepared once for all records. */
export class AttributeNames {
  readonly count: number;
  /** By the name's length in bytes. */
  readonly byLength: (Candidate[] | undefined)[] = [];

  constructor(known: KnownAttributes) {
    const attributes = Object.values(known);
    this.count = attributes.length;
    for (const [target, names] of attributes.entries()) {
      for (const [rank, source] of names.entries()) {
        const { name: text, values } = typeof source === "string" ? { name: source, values: undefined } : source;
        const name = Buffer.from(text, "utf8");
        (this.byLength[name.length] ??= []).push({ target, rank, name, values });
      }
    }
  }
}

const noRank = 255;
const { string: stringKind, integer: integerKind, double: doubleKind } = kindCodes;

/** The known attributes of one record; `reset` before the next. */
export class AttributeFinder {
  readonly #names: AttributeNames;
  readonly #ranks: Uint8Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #values: AttributeSource["values"][];
  readonly #value = new AnyValueReader();

  constructor(names: AttributeNames) {
    this.#names = names;
    const { count } = names;
    this.#ranks = new Uint8Array(count).fill(noRank);
    this.#starts = new Int32Array(count);
    this.#ends = new Int32Array(count);
    this.#values = Array.from({ length: count }, () => undefined);
  }

  reset(): void {
    this.#ranks.fill(noRank);
  }

  /** Remembers the attribute if it is a known one. */
  note(bytes: Uint8Array, attribute: AttributeReader): void {
    const { keyStart, keyEnd } = attribute;
    const candidates = this.#names.byLength[keyEnd - keyStart];
    if (candidates === undefined || attribute.valueStart === attribute.valueEnd) return;
    for (let index = 0; index < candidates.length; index += 1) {
      const { target, rank, name, values } = candidates[index]!;
      if (rank >= this.#ranks[target]! || !isAt(bytes, keyStart, name)) continue;
      if (values !== undefined && !this.#isAmong(values, bytes, attribute)) continue;
      this.#ranks[target] = rank;
      this.#starts[target] = attribute.valueStart;
      this.#ends[target] = attribute.valueEnd;
      this.#values[target] = values;
    }
  }

  /** Whether the record has the attribute. */
  has(target: number): boolean {
    return this.#ranks[target] !== noRank;
  }

  #isAmong(values: Readonly<Record<string, string>>, bytes: Uint8Array, attribute: AttributeReader): boolean {
    this.#value.read(bytes, attribute.valueStart, attribute.valueEnd);
    return this.#value.kind === stringKind && Object.hasOwn(values, this.#value.text(bytes));
  }

  /** The value as text; empty if absent. */
  text(target: number, bytes: Uint8Array): string {
    if (this.#ranks[target] === noRank) return "";
    this.#value.read(bytes, this.#starts[target]!, this.#ends[target]!);
    const values = this.#values[target];
    const text = this.#value.text(bytes);
    return values === undefined ? text : values[text]!;
  }

  /** The value if it is a non-empty string. */
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

  /** Writes a count: an integer, also if it was sent as a double or as text; 0 for anything else. */
  writeCount(column: FixedColumn, target: number, bytes: Uint8Array): void {
    if (this.#ranks[target] === noRank) column.addDefault();
    else column.unsigned(this.count(target, bytes));
  }

  /** The same count. */
  count(target: number, bytes: Uint8Array): number {
    const count = this.number(target, bytes);
    return count >= 0 && count <= Number.MAX_SAFE_INTEGER ? Math.trunc(count) : 0;
  }

  /** A number, also if it was sent as text; NaN for anything else. */
  number(target: number, bytes: Uint8Array): number {
    if (this.#ranks[target] === noRank) return Number.NaN;
    this.#value.read(bytes, this.#starts[target]!, this.#ends[target]!);
    const { kind, start } = this.#value;
    if (kind === integerKind) return int64At(bytes, start);
    if (kind === doubleKind) return doubleAt(bytes, start);
    // Blanks alone would be 0.
    const text = kind === stringKind ? this.#value.text(bytes).trim() : "";
    return text === "" ? Number.NaN : Number(text);
  }
}

export function isAt(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  // Names of one length differ at their end more often than at their beginning.
  for (let index = name.length - 1; index >= 0; index -= 1) if (bytes[start + index] !== name[index]) return false;
  return true;
}
