/** A queue that serves groups, such as organizations, in round-robin order, and each group in its own order. */

export class RoundRobinQueue<Item> {
  /** Groups with waiting items, in the order of their turns. */
  readonly #groups = new Map<string, Set<Item>>();
  readonly #dueOf: ((item: Item) => number) | undefined;
  #size = 0;

  /** @param dueOf of a group's items, the one with the lowest value is next; absent: first in, first out */
  constructor(dueOf?: (item: Item) => number) {
    this.#dueOf = dueOf;
  }

  get size(): number {
    return this.#size;
  }

  waitingOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  /** The group's next item. */
  first(group: string): Item | undefined {
    return this.#groups.get(group)?.values().next().value;
  }

  push(group: string, item: Item): void {
    const items = this.#groups.get(group);
    if (items === undefined) this.#groups.set(group, new Set([item]));
    else items.add(item);
    this.#size++;
  }

  /**
   * Takes the next item: among the groups with the lowest load, of the one whose turn is next.
   * @param load the current load of a group; absent: plain round robin
   */
  next(load?: (group: string) => number): { readonly group: string; readonly item: Item } | undefined {
    let chosen: string | undefined;
    let lowest = Infinity;
    for (const group of this.#groups.keys()) {
      const held = load?.(group) ?? 0;
      if (held >= lowest) continue;
      lowest = held;
      chosen = group;
      if (held === 0) break;
    }
    if (chosen === undefined) return undefined;
    const items = this.#groups.get(chosen)!;
    const item = this.#nextOf(items);
    this.remove(chosen, item);
    if (items.size > 0) {
      // The group moves behind the others.
      this.#groups.delete(chosen);
      this.#groups.set(chosen, items);
    }
    return { group: chosen, item };
  }

  #nextOf(items: ReadonlySet<Item>): Item {
    const dueOf = this.#dueOf;
    let soonest: Item = items.values().next().value!;
    if (dueOf !== undefined) for (const item of items) if (dueOf(item) < dueOf(soonest)) soonest = item;
    return soonest;
  }

  /** @returns whether the item was waiting */
  remove(group: string, item: Item): boolean {
    const items = this.#groups.get(group);
    if (items?.delete(item) !== true) return false;
    this.#size--;
    if (items.size === 0) this.#groups.delete(group);
    return true;
  }

  /** Takes the newest item of the largest group, if that group has more than `least`. */
  takeFromLongest(least: number): Item | undefined {
    let longest: string | undefined;
    let most = least;
    for (const [group, { size }] of this.#groups) {
      if (size <= most) continue;
      most = size;
      longest = group;
    }
    if (longest === undefined) return undefined;
    const item = [...this.#groups.get(longest)!].at(-1)!;
    this.remove(longest, item);
    return item;
  }

  /** Takes all items. */
  drain(): Item[] {
    const items = [...this.#groups.values()].flatMap((each) => [...each]);
    this.#groups.clear();
    this.#size = 0;
    return items;
  }
}
