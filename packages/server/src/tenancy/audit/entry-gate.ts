/**
 * Bounds how many entries requests can cause that no permission stands before: each thing is recorded once in a window of time,
 * a group has a share of the entries, and what goes beyond is counted in one entry at the end of the window.
 */
import type { AuditEntry } from "./entry.ts";

export interface GatedEntry {
  readonly entry: AuditEntry;
  /** What is the same within a window. */
  readonly key: string;
  /** Whose share it takes. */
  readonly group: string;
  /** What is counted together once the share is used up. */
  readonly summary: string;
}

export interface EntryGateOptions {
  readonly windowMs: number;
  /** Entries of a group in a window. */
  readonly perGroup: number;
  /** Entries in a window, and different summaries. */
  readonly mostEntries: number;
  readonly mostSummaries: number;
  /** Whether repetitions are recorded as one more entry at the end of the window. */
  readonly countsRepetitions: boolean;
  readonly emit: (entry: AuditEntry) => void;
  readonly now?: (() => number) | undefined;
}

interface Counted {
  readonly entry: AuditEntry;
  count: number;
}

export class EntryGate {
  readonly #options: EntryGateOptions;
  readonly #now: () => number;
  readonly #seen = new Map<string, Counted>();
  readonly #groups = new Map<string, number>();
  readonly #summaries = new Map<string, Counted>();
  #endsMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EntryGateOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  note({ entry, group, key, summary }: GatedEntry): void {
    this.#open();
    const seen = this.#seen.get(key);
    if (seen !== undefined) {
      seen.count += 1;
      return;
    }
    const { emit, mostEntries, perGroup } = this.#options;
    const ofGroup = this.#groups.get(group) ?? 0;
    if (ofGroup >= perGroup || this.#seen.size >= mostEntries) return this.#summarize(summary, entry);
    this.#groups.set(group, ofGroup + 1);
    this.#seen.set(key, { entry, count: 0 });
    emit(entry);
  }

  /** Ends the window, and records what was counted in it. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { countsRepetitions, emit } = this.#options;
    if (countsRepetitions)
      for (const { count, entry } of this.#seen.values()) if (count > 0) emit({ ...entry, count, ...repeated(entry) });
    for (const { count, entry } of this.#summaries.values()) emit({ ...entry, count });
    this.#seen.clear();
    this.#groups.clear();
    this.#summaries.clear();
  }

  #open(): void {
    const now = this.#now();
    if (this.#timer !== undefined && now < this.#endsMs) return;
    this.flush();
    this.#endsMs = now + this.#options.windowMs;
    this.#timer = setTimeout(() => this.flush(), this.#options.windowMs).unref();
  }

  #summarize(summary: string, entry: AuditEntry): void {
    const { mostSummaries } = this.#options;
    // The last one takes the rest.
    const name = this.#summaries.has(summary) || this.#summaries.size < mostSummaries ? summary : "";
    const counted = this.#summaries.get(name);
    if (counted !== undefined) counted.count += 1;
    else this.#summaries.set(name, { entry: summaryOf(entry, name === ""), count: 1 });
  }
}

function repeated({ details }: AuditEntry): Pick<AuditEntry, "details"> {
  return { details: { ...details, repeated: true } };
}

/** Without what differs between the requests. */
function summaryOf(entry: AuditEntry, isRest: boolean): AuditEntry {
  const { actor } = entry;
  const of = { ...entry, address: null, userAgent: null, object: { kind: null, id: null, name: null } };
  if (!isRest) return { ...of, details: { summary: true } };
  const nobody = { ...actor, kind: "anonymous" as const, id: null, name: null, organizationId: null };
  return { ...of, actor: nobody, organizationId: null, action: "various", code: null, details: { summary: true } };
}
