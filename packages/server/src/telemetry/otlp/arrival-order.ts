/** Numbers the records of a resource and scope that have the same time, in the order in which they came. */
import type { ResourceScope } from "./resource-scopes.ts";

/** What fits in the sixteen bits of a record's ID. */
export const mostOrdered = 0xffff;
/** A record that is older than one before it gets no place among those of its time, but one after them. */
const outOfOrder = 0x8000;

interface ArrivedRecord {
  readonly bytes: Uint8Array;
  /** Where its time is in the bytes; 0: it has none. */
  readonly timeAt: number;
  /** In the request. */
  readonly position: number;
  readonly group: ResourceScope;
}

export class ArrivalOrder {
  #group: ResourceScope | undefined;
  /** The newest time so far, in two words. */
  #high = -1;
  #low = -1;
  #ordinal = 0;

  /** @returns the number of records before this one with its time; more for one that is older than one before it */
  next({ bytes, group, position, timeAt }: ArrivedRecord): number {
    if (group !== this.#group) {
      if (!isSame(group, this.#group)) this.#high = this.#low = -1;
      this.#group = group;
    }
    const low = timeAt === 0 ? 0 : wordAt(bytes, timeAt);
    const high = timeAt === 0 ? 0 : wordAt(bytes, timeAt + 4);
    if (high === this.#high && low === this.#low) return (this.#ordinal += 1);
    if (high < this.#high || (high === this.#high && low < this.#low)) return outOfOrder + position;
    this.#high = high;
    this.#low = low;
    return (this.#ordinal = 0);
  }
}

/** Unsigned, little-endian. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** A request may have the same resource and scope in several parts. */
function isSame(one: ResourceScope, other: ResourceScope | undefined): boolean {
  if (other === undefined) return false;
  return isEqual(one.resourceId, other.resourceId) && isEqual(one.scopeId, other.scopeId);
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, at) => byte === other[at]);
}
