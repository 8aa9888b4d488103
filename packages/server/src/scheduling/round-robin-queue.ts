/** Waiting work of several groups, such as organizations: the groups take turns, each group's work is first in, first out. */

export class RoundRobinQueue<Item> {
  /** Groups with waiting items; the group whose turn is next comes first. */
  readonly #groups = new Map<string, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  waitingOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  push(group: string, item: Item): void {
    const items = this.#groups.get(group);
    if (items === undefined) this.#groups.set(group, new Set([item]));
    else items.add(item);
    this.#size++;
  }

  /**
   * Takes the next item: of the groups with the lowest load, the one whose turn it is.
   * @param load what a group holds already; without it, groups take turns
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
    const item = items.values().next().value!;
    this.remove(chosen, item);
    if (items.size > 0) {
      // The turn is over: the group goes behind the others.
      this.#groups.delete(chosen);
      this.#groups.set(chosen, items);
    }
    return { group: chosen, item };
  }

  /** Whether the item was waiting. */
  remove(group: string, item: Item): boolean {
    const items = this.#groups.get(group);
    if (items?.delete(item) !== true) return false;
    this.#size--;
    if (items.size === 0) this.#groups.delete(group);
    return true;
  }

  /** Takes the newest item of the group with most items, if that group has more than `least`. */
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
