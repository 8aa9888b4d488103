/** The streams of a query's entries: their labels, and whether the query selects them. */
import { getLabel, type Labels } from "@sounding/promql/series/labels";
import { matchesAll } from "@sounding/promql/series/matcher";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { QueryOptions, TenantReader } from "../../../store/store.ts";
import { lookUpResources, type InstrumentationScope, type Resource } from "../../resource-lookup.ts";
import { streamLabels, type StreamColumns } from "./stream-labels.ts";

interface StreamTableOptions extends Pick<QueryOptions, "memory"> {
  readonly signal: AbortSignal;
  readonly matchers: readonly LabelMatcher[];
  readonly yieldBudget: YieldBudget;
}

/** What entries refer to, of one slice. */
export interface References {
  readonly streams: ReadonlyMap<string, StreamColumns>;
  readonly scopeIds: ReadonlySet<string>;
}

/** The cost of building and matching a stream's labels, in samples. */
const streamCost = 128;

export class StreamTable {
  /** Grows only, so that indexes into it stay the same. */
  readonly labels: Labels[] = [];
  readonly #reader: TenantReader;
  readonly #options: StreamTableOptions;
  readonly #indexes = new Map<string, number>();
  readonly #byLabels = new Map<string, number>();
  readonly #resources = new Map<string, Resource>();
  readonly #scopes = new Map<string, InstrumentationScope>();

  constructor(reader: TenantReader, options: StreamTableOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  /** Describes streams that are new. Runs statements. */
  async add({ scopeIds, streams }: References): Promise<void> {
    const unknown = [...streams].filter(([key]) => !this.#indexes.has(key));
    const unknownScopes = [...scopeIds].filter((id) => !this.#scopes.has(id));
    const rows = [
      ...unknown.map(([, { resource_id }]) => ({ resource_id, scope_id: "0" })),
      ...unknownScopes.map((scope_id) => ({ resource_id: "0", scope_id })),
    ];
    if (rows.length === 0) return;
    const found = await lookUpResources(this.#reader, rows, this.#options);
    for (const [id, resource] of found.resources) this.#resources.set(id, resource);
    for (const [id, scope] of found.scopes) this.#scopes.set(id, scope);
    const { matchers, yieldBudget } = this.#options;
    for (const [key, columns] of unknown) {
      const labels = streamLabels(columns, this.#resources.get(columns.resource_id));
      const isSelected = await matchesAll(matchers, (name) => getLabel(labels, name), yieldBudget);
      this.#indexes.set(key, isSelected ? this.#indexOf(labels) : -1);
      if (yieldBudget.spend(streamCost)) await yieldBudget.yield();
    }
  }

  #indexOf(labels: Labels): number {
    let index = this.#byLabels.get(labels.key);
    if (index === undefined) {
      index = this.labels.push(labels) - 1;
      this.#byLabels.set(labels.key, index);
    }
    return index;
  }

  /** The stream's index; -1 if the query does not select it. */
  indexOf(key: string): number {
    return this.#indexes.get(key) ?? -1;
  }

  resource(id: string): Resource | undefined {
    return this.#resources.get(id);
  }

  scope(id: string): InstrumentationScope | undefined {
    return this.#scopes.get(id);
  }
}
