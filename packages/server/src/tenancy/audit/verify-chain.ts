/**
 * Verifies the audit log: recomputes every hash, and checks that each entry follows the one before, the first one the last that was
 * pruned, and that the last one is the one that was written last. docs/adr/0243-audit-log.md
 */
import { setImmediate } from "node:timers/promises";
import type { AuditVerification } from "../../api/audit.ts";
import type { ControlDatabase } from "../control-database.ts";
import { headId, pruneAction } from "./chain.ts";
import { type AuditRow, firstHash, hashOf } from "./entry.ts";

/** An entry that was noted elsewhere. */
export interface Anchor {
  readonly sequence: number;
  readonly hash: string;
}

type Problem = AuditVerification["problems"][number];

const mostProblems = 100;
/** Read and hashed before other work goes on. */
const pageRows = 50;

export async function verifyChain(
  control: ControlDatabase,
  options: { readonly anchor?: Anchor | undefined; readonly signal: AbortSignal },
): Promise<AuditVerification> {
  for (;;) {
    const head = await readHead(control);
    const result = await verifyFrom(control, head, options);
    // Entries that were pruned while the log was read are not missing.
    const isSame = (await readHead(control))?.pruned_sequence === head?.pruned_sequence;
    if (result.valid || isSame) return result;
  }
}

/** Entries may be added while the log is read: the head decides where it ends. */
async function verifyFrom(
  control: ControlDatabase,
  head: Head,
  { anchor, signal }: Parameters<typeof verifyChain>[1],
): Promise<AuditVerification> {
  const check = new ChainCheck(head, anchor);
  let after = head?.pruned_sequence ?? 0;
  for (;;) {
    signal.throwIfAborted();
    const rows = await readPage(control, after, head?.sequence);
    for (const row of rows) check.add(row);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.sequence;
    await setImmediate();
  }
  return check.result();
}

type Head = Awaited<ReturnType<typeof readHead>>;

/** With the newest entry in the table, of the same state of the database. */
async function readHead(control: ControlDatabase) {
  return await control.read((database) =>
    database
      .selectFrom("audit_head")
      .selectAll()
      .select(({ selectFrom }) =>
        selectFrom("audit_events")
          .select((events) => events.fn.max<number | null>("sequence").as("newest"))
          .as("newest"),
      )
      .where("id", "=", headId)
      .executeTakeFirst(),
  );
}

/** Without a head, to the end. Beyond the head are entries that were written after it was read. */
async function readPage(control: ControlDatabase, after: number, last: number | undefined): Promise<AuditRow[]> {
  return await control.read((database) => {
    let query = database.selectFrom("audit_events").selectAll().where("sequence", ">", after);
    if (last !== undefined) query = query.where("sequence", "<=", last);
    return query.orderBy("sequence").limit(pageRows).execute();
  });
}

class ChainCheck {
  readonly #head: Head;
  readonly #problems: Problem[] = [];
  #isValid = true;
  #anchor: Anchor | undefined;
  #entries = 0;
  #first: number | undefined;
  #last: Anchor;
  /** The last entry that the newest record of a pruning names. */
  #pruned: Anchor | undefined;

  constructor(head: Head, anchor: Anchor | undefined) {
    this.#head = head;
    this.#last = { sequence: head?.pruned_sequence ?? 0, hash: head?.pruned_hash ?? firstHash };
    if (head === undefined) this.#report("end", 0, "The record of the newest entry is missing.");
    // An older anchor than the last pruned entry cannot be checked any more.
    if (anchor === undefined || anchor.sequence < this.#last.sequence) return;
    if (anchor.sequence > this.#last.sequence) this.#anchor = anchor;
    else if (anchor.hash !== this.#last.hash) this.#reportAnchor(anchor, this.#last.hash);
  }

  add(row: AuditRow): void {
    const { sequence } = row;
    const expected = this.#last.sequence + 1;
    const follows = row.previous_hash === this.#last.hash;
    if (sequence !== expected) {
      const which =
        sequence - 1 === expected ? `The entry ${expected} is` : `The entries ${expected} to ${sequence - 1} are`;
      this.#report("missing", sequence, `${which} missing.`);
    } else if (!follows && this.#entries === 0) {
      this.#report("start", sequence, "The oldest entry does not follow the one that was pruned last.");
    } else if (!follows) {
      this.#report("unlinked", sequence, `The entry ${sequence} does not follow the entry ${expected - 1}.`);
    }
    if (hashOf(row) !== row.hash)
      this.#report("changed", sequence, `The entry ${sequence} (${row.id}) is not what was written.`);
    if (this.#anchor?.sequence === sequence && this.#anchor.hash !== row.hash)
      this.#reportAnchor(this.#anchor, row.hash);
    if (row.action === pruneAction && row.actor_kind === "system") this.#pruned = prunedOf(row.details);
    this.#entries += 1;
    this.#first ??= sequence;
    this.#last = { sequence, hash: row.hash };
  }

  result(): AuditVerification {
    const { hash, sequence } = this.#last;
    if (this.#anchor !== undefined && this.#anchor.sequence > sequence) {
      const end = `The log ends at the entry ${sequence}; the anchor is of the entry ${this.#anchor.sequence}.`;
      this.#report("anchor", this.#anchor.sequence, end);
    }
    if (this.#head !== undefined) this.#checkHead(this.#head);
    return {
      object: "audit_verification",
      valid: this.#isValid,
      entries: this.#entries,
      first_sequence: this.#first ?? null,
      last_sequence: sequence,
      last_hash: hash,
      problems: this.#problems,
    };
  }

  #checkHead(head: NonNullable<Head>): void {
    const { hash, sequence } = this.#last;
    if (head.sequence !== sequence) {
      const last = `the last one that was written is ${head.sequence}`;
      this.#report("end", sequence, `The log ends at the entry ${sequence}; ${last}.`);
    } else if (head.hash !== hash) {
      this.#report("end", sequence, `The entry ${sequence} is not the last one that was written.`);
    }
    if ((head.newest ?? 0) > head.sequence) {
      const beyond = `The log has entries up to ${head.newest}; the last one that was written is ${head.sequence}.`;
      this.#report("end", head.sequence, beyond);
    }
    if (head.pruned_sequence === 0) return;
    if (this.#pruned?.sequence === head.pruned_sequence && this.#pruned.hash === head.pruned_hash) return;
    const until = `The entries up to ${head.pruned_sequence} are missing, and no entry says that they were pruned.`;
    this.#report("start", head.pruned_sequence, until);
  }

  #reportAnchor({ sequence, hash }: Anchor, found: string): void {
    this.#report("anchor", sequence, `The entry ${sequence} has the hash ${found}; the anchor has ${hash}.`);
  }

  #report(kind: Problem["kind"], sequence: number, message: string): void {
    this.#isValid = false;
    if (this.#problems.length < mostProblems) this.#problems.push({ kind, sequence, message });
  }
}

/** Undefined if somebody else wrote the details. */
function prunedOf(details: string): Anchor | undefined {
  try {
    const { last_hash: hash, last_sequence: sequence } = JSON.parse(details) as Record<string, unknown>;
    return typeof hash === "string" && typeof sequence === "number" ? { hash, sequence } : undefined;
  } catch {
    return undefined;
  }
}
