/** What a pipeline gives for an entry; label sets are built when they are first read. */
import type { Labels } from "@sounding/promql/series/labels";
import { errorDetailsLabel, errorLabel, type EntryLabels } from "./entry-labels.ts";
import type { LabelCache } from "./label-cache.ts";

export class PipelineResult {
  readonly line: string;
  readonly value: number;
  readonly #entryLabels: EntryLabels;
  readonly #needed: ReadonlySet<string> | undefined;
  readonly #cache: LabelCache;
  #labels: Labels | undefined;

  constructor(
    line: string,
    value: number,
    labels: EntryLabels,
    needed: ReadonlySet<string> | undefined,
    cache: LabelCache,
  ) {
    this.line = line;
    this.value = value;
    this.#entryLabels = labels;
    this.#needed = needed;
    this.#cache = cache;
  }

  get stream(): Labels {
    return this.#entryLabels.fromStream(this.#cache);
  }

  get structuredMetadata(): Labels {
    return this.#entryLabels.fromMetadata(this.#cache);
  }

  get parsed(): Labels {
    return this.#entryLabels.fromStages(this.#cache);
  }

  get labels(): Labels {
    return (this.#labels ??=
      this.#needed === undefined
        ? this.#entryLabels.all(this.#cache)
        : this.#entryLabels.chosen(this.#needed, this.#cache));
  }

  get(name: string): string {
    if (name === errorLabel) return this.#entryLabels.error;
    if (name === errorDetailsLabel) return this.#entryLabels.errorDetails;
    return this.#entryLabels.get(name) ?? "";
  }
}
