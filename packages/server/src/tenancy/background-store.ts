/**
 * Responses in the background in the control database, so that every process finds their state and their events, and so that
 * none stays in progress when its process is gone.
 */
import { setImmediate } from "node:timers/promises";
import { plainContent, type ContentCipher } from "../encryption/content-cipher.ts";
import { inputLimit } from "../input-limits.ts";
import type { JsonObject } from "../json-object.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";
import { EventRows, type NewEvents } from "./event-rows.ts";
import { placeOf, type ResponseOwner } from "./response-writer.ts";
import { nowSeconds } from "./row-values.ts";
import { daySeconds, itemIds, type NewResponse } from "./stored-responses.ts";

/**
 * Time without a renewal after which a response is lost. Processes renew every few seconds, so the clocks of servers may differ
 * by most of it.
 */
const leaseSeconds = 60;

export const largestBackgroundResponse = inputLimit({
  area: "Chat completions",
  bounds: "A response that was generated in the background, without its input",
  value: 2_097_152,
  unit: "bytes",
  error: { instead: "the response is failed" },
});

export interface BackgroundOwner extends ResponseOwner {
  readonly id: string;
}

export interface NewBackground extends Pick<NewResponse, "input" | "previousId" | "response"> {
  readonly isStreamed: boolean;
}

/** What changed since the last time. */
export interface BackgroundProgress extends BackgroundOwner {
  /** Only of a response that is not in the store yet. */
  readonly begun?: NewBackground | undefined;
  readonly status: "queued" | "in_progress" | "ended";
  readonly events: NewEvents | undefined;
  readonly ending: BackgroundEnding | undefined;
}

export interface BackgroundEnding {
  readonly response: JsonObject;
  /** The engine that has it too, and under which ID. */
  readonly engine: string | undefined;
  readonly upstreamId: string | undefined;
}

/** What a process should do with a response that it generates: go on, if it is not there. */
export type BackgroundOrder = "cancel" | "forget";

interface BackgroundStoreOptions {
  /** Unique among all processes that use the database, in the past, too. */
  readonly process: string;
  readonly retentionDays: number;
  /** Absent: responses and events are stored as they are. */
  readonly cipher?: ContentCipher | undefined;
}

export class BackgroundStore {
  readonly #control: ControlDatabase;
  readonly #process: string;
  readonly #retentionDays: number;
  readonly #cipher: ContentCipher;
  readonly #events: EventRows;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(control: ControlDatabase, { process, retentionDays, cipher = plainContent }: BackgroundStoreOptions) {
    this.#control = control;
    this.#process = process;
    this.#retentionDays = retentionDays;
    this.#cipher = cipher;
    this.#events = new EventRows(control, cipher);
  }

  /**
   * Writes what changed, and renews. All or nothing: after an error, everything is still to be written.
   * @returns those that are no longer this process's, since they were deleted or given up
   */
  async write(changes: readonly BackgroundProgress[]): Promise<ReadonlySet<BackgroundProgress>> {
    const lost = new Set<BackgroundProgress>();
    await this.#control.write(async (transaction) => {
      for (const change of changes) if (!(await this.#writeOne(transaction, change))) lost.add(change);
    });
    return lost;
  }

  async #begin(transaction: Writer, whose: BackgroundOwner, begun: NewBackground) {
    const { organizationId, projectName, id } = whose;
    const owner = { organization_id: organizationId, project_name: projectName, id };
    const input = JSON.stringify(begun.input);
    const response = JSON.stringify(begun.response);
    const row = {
      ...owner,
      engine: null,
      previous_id: begun.previousId ?? null,
      input: this.#cipher.encrypt(input, placeOf("input", whose, id)),
      response: this.#cipher.encrypt(response, placeOf("response", whose, id)),
      bytes: Buffer.byteLength(input) + Buffer.byteLength(response),
      created_at: nowSeconds(),
      expires_at: nowSeconds() + this.#retentionDays * daySeconds,
    };
    await transaction.insertInto("responses").values(row).execute();
    const state = {
      ...owner,
      process: this.#process,
      status: "queued",
      is_streamed: begun.isStreamed ? 1 : 0,
      is_cancelled: 0,
      upstream_id: null,
      lease_expires_at: nowSeconds() + leaseSeconds,
    } as const;
    await transaction.insertInto("background_responses").values(state).execute();
  }

  async #writeOne(transaction: Writer, change: BackgroundProgress): Promise<boolean> {
    if (change.begun !== undefined) await this.#begin(transaction, change, change.begun);
    const { numUpdatedRows } = await transaction
      .updateTable("background_responses")
      .set({
        status: change.status,
        lease_expires_at: nowSeconds() + leaseSeconds,
        ...(change.ending === undefined ? {} : { upstream_id: change.ending.upstreamId ?? null }),
      })
      .where("organization_id", "=", change.organizationId)
      .where("project_name", "=", change.projectName)
      .where("id", "=", change.id)
      .where("process", "=", this.#process)
      .where("status", "!=", "ended")
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    if (change.events !== undefined) await this.#events.add(transaction, change, change.events);
    if (change.ending !== undefined) await endResponse(transaction, change, change.ending, this.#cipher);
    return true;
  }

  /** What other processes, or deletions, ask of the running responses of this one. */
  async orders(running: readonly BackgroundOwner[]): Promise<ReadonlyMap<BackgroundOwner, BackgroundOrder>> {
    const rows = await this.#control.read((database) =>
      database
        .selectFrom("background_responses")
        .select(["organization_id", "project_name", "id", "is_cancelled"])
        .where("process", "=", this.#process)
        .where("status", "!=", "ended")
        .execute(),
    );
    const cancelled = new Map(
      rows.map((row) => [keyOf(row.organization_id, row.project_name, row.id), row.is_cancelled === 1]),
    );
    const orders = new Map<BackgroundOwner, BackgroundOrder>();
    for (const owner of running) {
      const isCancelled = cancelled.get(keyOf(owner.organizationId, owner.projectName, owner.id));
      if (isCancelled === undefined) orders.set(owner, "forget");
      else if (isCancelled) orders.set(owner, "cancel");
    }
    return orders;
  }

  /** Asks the process that generates it, which looks every second. */
  async askToCancel({ organizationId, projectName, id }: BackgroundOwner): Promise<void> {
    await this.#inTurn((transaction) =>
      transaction
        .updateTable("background_responses")
        .set({ is_cancelled: 1 })
        .where("organization_id", "=", organizationId)
        .where("project_name", "=", projectName)
        .where("id", "=", id)
        .where("status", "!=", "ended")
        .execute(),
    );
  }

  /**
   * Ends a response whose process has gone, unless it was renewed meanwhile.
   * @param eventOf the last event, by its sequence number
   */
  async giveUp(
    owner: BackgroundOwner,
    { response, eventOf }: { readonly response: JsonObject; readonly eventOf: (sequence: number) => NewEvents },
  ): Promise<void> {
    await this.#inTurn(async (transaction) => {
      const row = await transaction
        .updateTable("background_responses")
        .set({ status: "ended" })
        .where("organization_id", "=", owner.organizationId)
        .where("project_name", "=", owner.projectName)
        .where("id", "=", owner.id)
        .where("status", "!=", "ended")
        .where("lease_expires_at", "<=", nowSeconds())
        .returning("is_streamed")
        .executeTakeFirst();
      if (row === undefined) return;
      await endResponse(transaction, owner, { response, engine: undefined, upstreamId: undefined }, this.#cipher);
      if (row.is_streamed !== 1) return;
      const next = await this.#events.nextSequence(transaction, owner);
      await this.#events.add(transaction, owner, eventOf(next));
    });
  }

  /** The events from this one on, or a part of them; undefined if there are none. The first may be a later one. */
  events(owner: BackgroundOwner, from: number): Promise<NewEvents | undefined> {
    return this.#events.read(owner, from);
  }

  removeOldEvents(): Promise<void> {
    return this.#events.removeOld();
  }

  /** Many at once would hold the event loop for as long as all of them take, since SQLite waits for the disk in this thread. */
  #inTurn<T>(run: (transaction: Writer) => Promise<T>): Promise<T> {
    const result = this.#lastTurn.then(() => setImmediate()).then(() => this.#control.write(run));
    this.#lastTurn = result.then(
      () => {},
      () => {},
    );
    return result;
  }
}

/** For a server that alone uses the database, before it serves: what earlier processes were generating is lost. */
export async function giveUpEarlierProcesses(control: ControlDatabase): Promise<void> {
  await control.write((transaction) =>
    transaction
      .updateTable("background_responses")
      .set({ lease_expires_at: 0 })
      .where("status", "!=", "ended")
      .execute(),
  );
}

async function endResponse(
  transaction: Writer,
  whose: BackgroundOwner,
  { response, engine }: BackgroundEnding,
  cipher: ContentCipher,
): Promise<void> {
  const { organizationId, projectName, id } = whose;
  const owner = { organization_id: organizationId, project_name: projectName };
  const text = JSON.stringify(response);
  const bytes = Buffer.byteLength(text);
  await transaction
    .updateTable("responses")
    .set(({ fn, ref, eb: sum }) => ({
      response: cipher.encrypt(text, placeOf("response", whose, id)),
      engine: engine ?? null,
      bytes: sum(fn<number>("octet_length", [ref("input")]), "+", bytes),
    }))
    .where("organization_id", "=", organizationId)
    .where("project_name", "=", projectName)
    .where("id", "=", id)
    .execute();
  const items = itemIds(response).map((item) => ({ ...owner, id: item, response_id: id }));
  if (items.length > 0) await transaction.insertInto("response_items").values(items).execute();
}

/** Names have no line breaks. */
function keyOf(...parts: readonly [string, string, string]): string {
  return parts.join("\n");
}
