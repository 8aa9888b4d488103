/**
 * O(1) membership set for short-lived objects.
 *
 * A `Set` retains garbage here. V8 links each hash table that a Set has outgrown to its successor, with its members of that
 * moment. Once one of these tables is in the old generation, minor collections keep all later ones, and with them a fifth of
 * what calls allocate, as measured.
 * docs/adr/0027-cpu-time-of-a-call.md
 */
export interface IndexedSetMember {
  /** Maintained by the set; -1 if the object is in none. An object can be in one set only. */
  setIndex: number;
}

export class IndexedSet<Member extends IndexedSetMember> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Does nothing if it is a member. */
  add(member: Member): void {
    if (member.setIndex === -1) member.setIndex = this.#members.push(member) - 1;
  }

  /** Does nothing if it is not a member. The last member takes its index. */
  delete(member: Member): void {
    const index = member.setIndex;
    if (index === -1) return;
    member.setIndex = -1;
    const last = this.#members.pop()!;
    if (last === member) return;
    this.#members[index] = last;
    last.setIndex = index;
  }

  /** Visits the current members; the callback may delete them. */
  forEach(visit: (member: Member) => void): void {
    for (const member of this.#members.slice()) if (member.setIndex !== -1) visit(member);
  }
}
