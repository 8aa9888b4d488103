/**
 * The labels of an entry while its pipeline runs, by where they came from. Parsed labels hide structured metadata and stream
 * labels of the same name.
 */
import { inputLimit } from "@sounding/promql/input-limit";
import { emptyLabels, type Labels } from "@sounding/promql/series/labels";
import type { LabelCache } from "./label-cache.ts";

/** What a label is called whose name is taken. */
export const duplicateSuffix = "_extracted";

export const errorLabel = "__error__";
export const errorDetailsLabel = "__error_details__";
/** Marks an entry whose error the query asks for: it does not fail a metric query. */
export const preserveErrorLabel = "__preserve_error__";

/** More than one parser may extract from a line. */
const maximumSetCharacters = inputLimit({
  area: "LogQL",
  bounds: "Names and values of the labels that all stages of a query set on one entry, together",
  value: 10_000_000,
  unit: "characters",
  error: { instead: "the entry has the label `__error__`" },
});

/** They are sorted and written without a pause. */
const maximumSetLabels = inputLimit({
  area: "LogQL",
  bounds: "Labels that all stages of a query set on one entry",
  value: 2000,
  error: { instead: "the entry has the label `__error__`" },
});

/** The error of an entry whose stages set too many or too long labels. */
export const labelLimitError = "LabelLimitErr";

const streamValues = new WeakMap<Labels, ReadonlyMap<string, string>>();

function valuesOf(stream: Labels): ReadonlyMap<string, string> {
  let values = streamValues.get(stream);
  if (values === undefined) {
    const { pairs } = stream;
    const built = new Map<string, string>();
    for (let index = 0; index < pairs.length; index += 2) built.set(pairs[index]!, pairs[index + 1]!);
    streamValues.set(stream, (values = built));
  }
  return values;
}

/** A list of up to this many labels is searched faster than a map is built. */
const shortList = 32;

const noValues: ReadonlyMap<string, string> = new Map();

export class EntryLabels {
  /** The value of `__error__`; "" if no stage failed. */
  error = "";
  errorDetails = "";
  #stream: Labels = emptyLabels;
  #streamValues: ReadonlyMap<string, string> = noValues;
  /** As in the store: a name may be that of a stream label. */
  #storedMetadata: readonly string[] = [];
  /** The same with the names that queries see; built when a stage changes it or when it is long. */
  #metadata: Map<string, string> | undefined;
  /** Labels in the order in which they were set; undefined for those that were dropped since. */
  readonly #parsed = new Map<string, string | undefined>();
  #droppedFromStream: Set<string> | undefined;
  /** Characters of all labels that stages have set, replaced ones included. */
  #setCharacters = 0;
  #isFull = false;

  reset(stream: Labels, structuredMetadata: readonly string[]): void {
    if (stream !== this.#stream) {
      this.#stream = stream;
      this.#streamValues = valuesOf(stream);
    }
    this.#storedMetadata = structuredMetadata;
    this.#metadata = undefined;
    this.#droppedFromStream = undefined;
    this.error = "";
    this.errorDetails = "";
    this.#setCharacters = 0;
    this.#isFull = false;
    if (this.#parsed.size > 0) this.#parsed.clear();
  }

  /** A label's value; undefined if there is no such label. Errors are not among them. */
  get(name: string): string | undefined {
    if (this.#parsed.size > 0) {
      const value = this.#parsed.get(name);
      if (value !== undefined) return value;
    }
    const fromStream = this.#streamValues.get(name);
    if (fromStream === undefined) return this.#metadataValue(name);
    return this.#droppedFromStream?.has(name) === true ? undefined : fromStream;
  }

  /** Whether a stream label or structured metadata has the name, so that a parsed label needs another one. */
  isTaken(name: string): boolean {
    return this.#streamValues.has(name) || this.#metadataValue(name) !== undefined;
  }

  /** Whether a stage has set the label, even if a later stage dropped it. */
  wasParsed(name: string): boolean {
    return this.#parsed.size > 0 && this.#parsed.has(name);
  }

  /** How many labels stages have set, dropped ones included. */
  get parsedCount(): number {
    return this.#parsed.size;
  }

  /** Whether a label did not fit: the stage that set it need not look for more. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Sets a parsed label, unless the entry's labels are too many or too long; structured metadata of the same name is gone. */
  setParsed(name: string, value: string): void {
    this.#setCharacters += name.length + value.length;
    if (this.#setCharacters > maximumSetCharacters) {
      return this.#overflow(`the labels of the entry have more than ${maximumSetCharacters} characters`);
    }
    if (this.#parsed.size >= maximumSetLabels && !this.#parsed.has(name)) {
      return this.#overflow(`the stages set more than ${maximumSetLabels} labels on the entry`);
    }
    if (this.#metadataValue(name) !== undefined) this.#ownMetadata().delete(name);
    this.#parsed.set(name, value);
  }

  drop(name: string): void {
    if (this.#parsed.has(name)) this.#parsed.set(name, undefined);
    if (this.#metadataValue(name) !== undefined) this.#ownMetadata().delete(name);
    if (this.#streamValues.has(name)) (this.#droppedFromStream ??= new Set()).add(name);
  }

  #overflow(details: string): void {
    this.#isFull = true;
    this.fail(labelLimitError, details);
  }

  /** The first error of an entry is the one that it keeps. */
  fail(error: string, details: string): void {
    if (this.error !== "") return;
    this.error = error;
    this.errorDetails = details;
  }

  /** All labels and the errors: name, value, name, value … in no order. */
  pairs(): string[] {
    return [...this.#streamPairs(), ...this.#metadataPairs(), ...this.#parsedPairs()];
  }

  /** The labels of these names and, if the entry has an error, all labels. */
  chosen(names: ReadonlySet<string>, cache: LabelCache): Labels {
    if (this.error !== "" || this.errorDetails !== "") return cache.labels(this.pairs());
    const pairs: string[] = [];
    for (const name of names) {
      const value = this.get(name);
      if (value !== undefined) pairs.push(name, value);
    }
    return cache.labels(pairs);
  }

  all(cache: LabelCache): Labels {
    const isOnlyStream =
      this.#parsed.size === 0 &&
      this.#droppedFromStream === undefined &&
      (this.#metadata?.size ?? this.#storedMetadata.length) === 0 &&
      this.error === "" &&
      this.errorDetails === "";
    return isOnlyStream ? this.#stream : cache.labels(this.pairs());
  }

  fromStream(cache: LabelCache): Labels {
    const pairs = this.#streamPairs();
    return pairs === this.#stream.pairs ? this.#stream : cache.labels(pairs);
  }

  fromMetadata(cache: LabelCache): Labels {
    return cache.labels(this.#metadataPairs());
  }

  fromStages(cache: LabelCache): Labels {
    return cache.labels(this.#parsedPairs());
  }

  #metadataValue(name: string): string | undefined {
    const stored = this.#storedMetadata;
    if (this.#metadata !== undefined) return this.#metadata.get(name);
    if (stored.length === 0) return undefined;
    if (stored.length > shortList * 2 || name.endsWith(duplicateSuffix)) return this.#ownMetadata().get(name);
    for (let index = 0; index < stored.length; index += 2) {
      if (stored[index] === name) return this.#streamValues.has(name) ? undefined : stored[index + 1];
    }
    return undefined;
  }

  #ownMetadata(): Map<string, string> {
    if (this.#metadata !== undefined) return this.#metadata;
    const stored = this.#storedMetadata;
    const values = new Map<string, string>();
    for (let index = 0; index < stored.length; index += 2) {
      const name = stored[index]!;
      values.set(this.#streamValues.has(name) ? name + duplicateSuffix : name, stored[index + 1]!);
    }
    return (this.#metadata = values);
  }

  #streamPairs(): readonly string[] {
    const { pairs } = this.#stream;
    const dropped = this.#droppedFromStream;
    if (dropped === undefined && this.#parsed.size === 0) return pairs;
    const kept: string[] = [];
    for (let index = 0; index < pairs.length; index += 2) {
      const name = pairs[index]!;
      if (dropped?.has(name) === true || this.#parsed.get(name) !== undefined) continue;
      kept.push(name, pairs[index + 1]!);
    }
    return kept.length === pairs.length ? pairs : kept;
  }

  #metadataPairs(): string[] {
    const pairs: string[] = [];
    for (const [name, value] of this.#ownMetadata()) pairs.push(name, value);
    return pairs;
  }

  #parsedPairs(): string[] {
    const pairs: string[] = [];
    for (const [name, value] of this.#parsed) {
      if (value !== undefined) pairs.push(name, value);
    }
    if (this.error !== "") pairs.push(errorLabel, this.error);
    if (this.errorDetails !== "") pairs.push(errorDetailsLabel, this.errorDetails);
    return pairs;
  }
}
