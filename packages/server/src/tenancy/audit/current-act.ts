/**
 * The act that a request carries out. The transaction of its first change writes its entry, so that neither a crash nor a lost
 * connection leaves a change without an entry.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Writer } from "../database-access.ts";
import { appendEntries } from "./chain.ts";
import type { ActObject, Actor, AuditEntry } from "./entry.ts";

/** The object of an act, as the API shows it. */
export interface ObjectState {
  readonly object: ActObject;
  readonly state: object | null;
}

/** Reads objects. Undefined: the operation has none, or it does not exist. */
export interface StateReader {
  before(): Promise<ObjectState | undefined>;
  /** @param result what the change returned */
  after(result: unknown): Promise<ObjectState | undefined>;
}

/** What is known of an act before it is carried out. */
export type PlannedEntry = Pick<AuditEntry, "actor" | "address" | "userAgent" | "action" | "object" | "details">;

interface ActDescription {
  /** Who acts, where the request itself has no key. */
  readonly actor?: Actor;
  readonly object?: ActObject;
}

export class Act {
  /** Whether an entry is committed. */
  isRecorded = false;
  /** Whether the request is over; what it started may still run. */
  isOver = false;
  #planned: PlannedEntry;
  readonly states: StateReader | undefined;

  constructor(planned: PlannedEntry, states: StateReader | undefined) {
    this.#planned = planned;
    this.states = states;
  }

  get actor(): Actor {
    return this.#planned.actor;
  }

  describe(description: ActDescription): void {
    this.#planned = { ...this.#planned, ...description };
  }

  /** The entry of an act that was carried out. */
  done(before?: ObjectState, after?: ObjectState, result?: unknown): AuditEntry {
    const planned = this.#planned;
    const known = after ?? before;
    const object = known === undefined ? planned.object : known.object;
    const created = createdObject(result);
    const isOther = created !== undefined && created.id !== object.id;
    return {
      ...planned,
      object,
      organizationId: organizationOf(object, [after?.state, before?.state]) ?? planned.actor.organizationId,
      outcome: "done",
      code: null,
      count: 1,
      before: before?.state ?? null,
      after: after?.state ?? null,
      details: isOther ? { ...planned.details, created } : planned.details,
    };
  }
}

/** What a change returned besides its object, such as the key that replaces one. */
function createdObject(result: unknown): { readonly kind: string; readonly id: string } | undefined {
  if (typeof result !== "object" || result === null || !("id" in result) || !("object" in result)) return undefined;
  const { id, object } = result;
  return typeof id === "string" && typeof object === "string" ? { kind: object, id } : undefined;
}

function organizationOf(object: ActObject, states: readonly (object | null | undefined)[]): string | undefined {
  for (const state of states) {
    if (state == null || !("organization_id" in state)) continue;
    if (typeof state.organization_id === "string") return state.organization_id;
  }
  return object.kind === "organization" && states.some(Boolean) ? (object.id ?? undefined) : undefined;
}

const acts = new AsyncLocalStorage<Act>();

export async function runAct<Result>(act: Act, run: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await acts.run(act, run);
  } finally {
    act.isOver = true;
  }
}

/** Adds to the entry of the current request what its routes know. */
export function describeAct(description: ActDescription): void {
  acts.getStore()?.describe(description);
}

/**
 * Carries out a change with the entry of the current act, if it has none yet. The caller commits, and then calls `markRecorded`.
 * @param readWithin lets reads of the control database see the transaction
 */
export async function withEntry<T>(
  transaction: Writer,
  run: (transaction: Writer) => Promise<T>,
  readWithin: <Read>(read: () => Promise<Read>) => Promise<Read>,
): Promise<{ readonly result: T; readonly markRecorded: () => void }> {
  const act = acts.getStore();
  if (act === undefined || act.isRecorded || act.isOver)
    return { result: await run(transaction), markRecorded: () => {} };
  const { states } = act;
  const before = states && (await readWithin(() => states.before()));
  const result = await run(transaction);
  const after = states && (await readWithin(() => states.after(result)));
  await appendEntries(transaction, [act.done(before, after, result)]);
  return {
    result,
    markRecorded: () => {
      act.isRecorded = true;
    },
  };
}
