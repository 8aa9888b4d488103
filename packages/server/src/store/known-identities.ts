/** Remembers which resources, scopes and series are stored today, so that requests need not write them again. */
import type { TableName } from "./schema.ts";

/** About 100 bytes each. */
const maximumIdentities = 500_000;
const dayMs = 86_400_000;

export class KnownIdentities {
  readonly #sets = new Map<string, Set<bigint>>();
  readonly #now: () => number;
  #count = 0;
  #day = -1;

  /** `now` in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  has(table: TableName, organizationId: string, identity: bigint): boolean {
    this.#forgetYesterday();
    return this.#sets.get(`${table} ${organizationId}`)?.has(identity) ?? false;
  }

  add(table: TableName, organizationId: string, identities: readonly bigint[]): void {
    this.#forgetYesterday();
    if (this.#count + identities.length > maximumIdentities) this.#clear();
    const name = `${table} ${organizationId}`;
    let set = this.#sets.get(name);
    if (set === undefined) this.#sets.set(name, (set = new Set()));
    const before = set.size;
    for (const identity of identities) set.add(identity);
    this.#count += set.size - before;
  }

  /** Forgets what is stored of an organization. */
  forget(organizationId: string): void {
    for (const [name, set] of this.#sets) {
      if (!name.endsWith(` ${organizationId}`)) continue;
      this.#sets.delete(name);
      this.#count -= set.size;
    }
  }

  /** Rows with an identity record the day when they were last seen, which determines how long they are kept. */
  #forgetYesterday(): void {
    const day = Math.floor(this.#now() / dayMs);
    if (day === this.#day) return;
    this.#day = day;
    this.#clear();
  }

  #clear(): void {
    this.#sets.clear();
    this.#count = 0;
  }
}
