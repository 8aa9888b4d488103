/**
 * Who is here just now, where thousands come and go each second.
 *
 * A `Set` is not for that: V8 chains the table that a Set has outgrown, or worn out by deletions, to its successor, with
 * the members of that moment still in it. Once one such table is old, the whole chain after it outlives every quick
 * collection, and with it a part of all calls: measured, a fifth of all that they allocate.
 * docs/adr/0027-cost-of-a-call.md
 */
export interface IndexedSetMember {
  /** Kept by the roster; -1 for who is in none. A member can be in one roster only. */
  setIndex: number;
}

export class IndexedSet<Member extends IndexedSetMember> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Does nothing when it is here already. */
  add(member: Member): void {
    if (member.setIndex === -1) member.setIndex = this.#members.push(member) - 1;
  }

  /** Does nothing when it is not here. The last member takes the place. */
  delete(member: Member): void {
    const index = member.setIndex;
    if (index === -1) return;
    member.setIndex = -1;
    const last = this.#members.pop()!;
    if (last === member) return;
    this.#members[index] = last;
    last.setIndex = index;
  }

  /** Calls back with each of those who are here now; it may take them out. */
  forEach(visit: (member: Member) => void): void {
    for (const member of this.#members.slice()) if (member.setIndex !== -1) visit(member);
  }
}
