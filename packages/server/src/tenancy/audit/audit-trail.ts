/**
 * Decides what of the server's requests the audit log records, and writes it: changes in their own transaction, everything else
 * right after, bounded. docs/adr/0243-audit-log.md
 */
import { type AuditKind, auditKindOf } from "../../api/audited-operations.ts";
import type { Operation } from "../../api/operation.ts";
import type { AppError } from "../../errors.ts";
import { clientNetwork } from "../../http/client-address.ts";
import type { AuditedInput, AuditedRequest, RequestAudit } from "../../http/request-audit.ts";
import type { Route, RouteInput } from "../../http/route.ts";
import { inputLimit } from "../../input-limits.ts";
import type { Logger } from "../../logger.ts";
import type { ControlDatabase } from "../control-database.ts";
import { actorOf, personalKeyOf } from "./actor.ts";
import { appendEntries } from "./chain.ts";
import { Act, type PlannedEntry, runAct } from "./current-act.ts";
import type { AuditEntry } from "./entry.ts";
import { EntryGate } from "./entry-gate.ts";
import { EntryQueue } from "./entry-queue.ts";
import { ObjectStates } from "./object-states.ts";
import { readObject } from "./read-object.ts";

export interface AuditTrailOptions {
  readonly control: ControlDatabase;
  readonly logger: Logger;
  /** Called when entries are lost, because the database did not accept them for long. */
  readonly onDrop?: ((entries: number) => void) | undefined;
  /** Of the windows in which entries are counted, milliseconds. */
  readonly now?: (() => number) | undefined;
}

const perGroup = inputLimit({
  area: "Administration",
  bounds:
    "Refusals and exports of one organization, or of callers without a key, that are recorded one by one in ten minutes",
  value: 100,
  error: { instead: "the others are counted in summaries" },
});
const mostEntries = 2000;
const windowMs = 600_000;
const readsPerGroup = inputLimit({
  area: "Administration",
  bounds: "Conversations, traces and projects of one organization whose reading is recorded one by one in an hour",
  value: 1000,
  error: { instead: "the others are counted in summaries" },
});
const mostReads = 10_000;
const readWindowMs = 3_600_000;
const mostSummaries = 200;

/** Errors before the caller is known. */
const refusedStatuses: ReadonlySet<number> = new Set([401, 403, 429]);
const forbiddenStatus = 403;
const firstServerStatus = 500;

export class AuditTrail implements RequestAudit {
  readonly #control: ControlDatabase;
  readonly #queue: EntryQueue;
  readonly #events: EntryGate;
  readonly #reads: EntryGate;
  readonly #kinds = new Map<Operation, AuditKind | undefined>();
  #states = new ObjectStates([]);

  constructor({ control, logger, now, onDrop }: AuditTrailOptions) {
    this.#control = control;
    this.#queue = new EntryQueue({ control, logger, onDrop });
    const shared = { mostSummaries, now, emit: (entry: AuditEntry) => this.#queue.add(entry) };
    this.#events = new EntryGate({ ...shared, windowMs, perGroup, mostEntries, countsRepetitions: true });
    this.#reads = new EntryGate({
      ...shared,
      windowMs: readWindowMs,
      perGroup: readsPerGroup,
      mostEntries: mostReads,
      countsRepetitions: false,
    });
  }

  /** Call it before the first request. The routes show the objects before and after changes. */
  useRoutes(routes: readonly Route[]): void {
    this.#states = new ObjectStates(routes);
  }

  /** Records what is no request. */
  record(entry: AuditEntry): void {
    this.#queue.add(entry);
  }

  /** Resolves once everything that was noted before is written. */
  async flush(): Promise<void> {
    this.#events.flush();
    this.#reads.flush();
    await this.#queue.whenWritten();
  }

  async close(): Promise<void> {
    this.#events.flush();
    this.#reads.flush();
    await this.#queue.close();
  }

  serve<Result>(
    request: AuditedRequest,
    input: AuditedInput,
    run: () => Result | Promise<Result>,
  ): Result | Promise<Result> {
    switch (this.#kindOf(request.operation)) {
      case "change":
        return isPreview(input.body) ? run() : this.#change(request, input, run);
      case "export":
        this.#noteExport(request, input);
        return run();
      case "read": {
        const result = run();
        if (!(result instanceof Promise)) {
          this.#noteRead(request, input);
          return result;
        }
        return result.then((value) => {
          this.#noteRead(request, input);
          return value;
        });
      }
      case undefined:
        return run();
    }
  }

  failed(request: AuditedRequest, error: AppError): void {
    const { operation, scope } = request;
    const kind = this.#kindOf(operation);
    const isAct = kind === "change" || kind === "export";
    const isRefused = scope === undefined ? refusedStatuses.has(error.status) : error.status === forbiddenStatus;
    if (!isRefused && !isAct) return;
    const planned = this.#plan(request);
    const { actor, object } = planned;
    const entry: AuditEntry = {
      ...planned,
      organizationId: actor.organizationId,
      outcome: error.status >= firstServerStatus ? "failed" : "refused",
      code: error.code,
      count: 1,
      before: null,
      after: null,
    };
    const who = actor.id ?? clientNetwork(request.clientAddress ?? "");
    const what = `${actor.kind} ${operation.id} ${error.code}`;
    this.#events.note({
      entry,
      key: `${what} ${who} ${object.id ?? ""}`,
      group: actor.organizationId ?? "",
      summary: `${what} ${actor.id ?? ""}`,
    });
  }

  async #change<Result>(
    request: AuditedRequest,
    input: AuditedInput,
    run: () => Result | Promise<Result>,
  ): Promise<Result> {
    const { operation } = request;
    // Only the functions of routes for WebSockets have less than a whole input, and none of them changes anything.
    const act = new Act(this.#plan(request), this.#states.reader(operation, input as RouteInput<never>));
    const result = await runAct(act, run);
    if (!act.isRecorded) await this.#recordNow(act.done());
    return result;
  }

  /** What changed outside of the control database has happened, even if the entry has to wait. */
  async #recordNow(entry: AuditEntry): Promise<void> {
    try {
      await this.#control.write((transaction) => appendEntries(transaction, [entry]));
    } catch {
      this.#queue.add(entry);
    }
  }

  /** An export goes on with the same organization, signal and project until it ends. */
  #noteExport(request: AuditedRequest, input: AuditedInput): void {
    const { object, ...planned } = this.#plan(request);
    const { actor } = planned;
    const body = memberTexts(input.body, ["signal", "start", "end", "time_window"]);
    const isContinued = memberTexts(input.body, ["cursor"])["cursor"] !== undefined;
    const read = readObject(request, input);
    const entry = { ...planned, object: read ?? object, details: { ...planned.details, ...body } };
    const what = `${actor.id} ${request.operation.id}`;
    this.#events.note({
      entry: doneEntry(entry),
      key: isContinued ? `${what} ${read?.id ?? ""} ${body["signal"]} continued` : `${what} ${request.requestId}`,
      group: actor.organizationId ?? "",
      summary: what,
    });
  }

  #noteRead(request: AuditedRequest, input: AuditedInput): void {
    const object = readObject(request, input);
    // For others, the store leaves recorded content out.
    if (object === undefined || request.scope?.may("content_read") !== true) return;
    const planned = this.#plan(request);
    const { actor } = planned;
    const what = `${actor.id} ${request.operation.id}`;
    this.#reads.note({
      entry: doneEntry({ ...planned, object }),
      key: `${what} ${object.kind} ${object.id}`,
      group: actor.organizationId ?? "",
      summary: what,
    });
  }

  #plan(request: AuditedRequest): PlannedEntry {
    const { clientAddress, operation, path, requestId, session, userAgent } = request;
    const keyId = personalKeyOf(request);
    return {
      actor: actorOf(request),
      address: clientAddress ?? null,
      userAgent: userAgent ?? null,
      action: operation.id,
      object: this.#states.named(operation, path),
      details: {
        request_id: requestId,
        ...(session === undefined ? {} : { session_id: session.sessionId }),
        ...(keyId === undefined ? {} : { key_id: keyId }),
      },
    };
  }

  #kindOf(operation: Operation): AuditKind | undefined {
    if (this.#kinds.has(operation)) return this.#kinds.get(operation);
    const kind = auditKindOf(operation);
    this.#kinds.set(operation, kind);
    return kind;
  }
}

function doneEntry(planned: PlannedEntry): AuditEntry {
  return {
    ...planned,
    organizationId: planned.actor.organizationId,
    outcome: "done",
    code: null,
    count: 1,
    before: null,
    after: null,
  };
}

/** A request that changes nothing, by the convention of the admin API. */
function isPreview(body: unknown): boolean {
  return typeof body === "object" && body !== null && "dry_run" in body && body.dry_run === true;
}

function memberTexts(body: unknown, names: readonly string[]): Readonly<Record<string, string>> {
  if (typeof body !== "object" || body === null) return {};
  const members = Object.entries(body).filter(
    ([name, value]) => names.includes(name) && typeof value === "string" && value !== "",
  );
  return Object.fromEntries(members) as Record<string, string>;
}
