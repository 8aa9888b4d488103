/** One response while it is generated in the background: its state, its events, and how it ends. */
import type { WireEvent } from "../../engines/wire.ts";
import { Cancellation } from "../../cancellation.ts";
import { AppError, toAppError } from "../../errors.ts";
import { isObject, parseObject, type JsonObject } from "../../json-object.ts";
import {
  largestBackgroundResponse,
  type BackgroundProgress,
  type NewBackground,
} from "../../tenancy/background-store.ts";
import type { Scope } from "../../tenant.ts";
import { failureOf } from "../failure.ts";
import { EventLog } from "./event-log.ts";
import type { Turn } from "./waiting-lines.ts";

export interface RunOptions {
  readonly scope: Scope;
  /** As the client gets it at first. */
  readonly response: JsonObject & { readonly id: string };
  /** What was new in the request. */
  readonly input: readonly JsonObject[];
  readonly previousId: string | undefined;
  /** Whether its events are kept. */
  readonly isStreamed: boolean;
  /** Writes what changed; called while the response waits for it. */
  readonly flush: () => Promise<void>;
  readonly turnOf: (cancellation: Cancellation) => Turn;
}

/** Created by the response itself when it began. */
const ownEvents = new Set(["response.created", "response.queued"]);
const lastTypes = new Set(["response.completed", "response.incomplete"]);

export class BackgroundRun {
  readonly organizationId: string;
  readonly projectName: string;
  readonly id: string;
  readonly cancellation = new Cancellation();
  readonly log: EventLog | undefined;
  /** At its model, while that has as many calls as it takes. */
  readonly turn: Turn;
  /** The engine that generates it, if the call was passed through. */
  engine: string | undefined;
  readonly #flush: () => Promise<void>;
  #response: JsonObject;
  /** Whether the client asked to end it. */
  #isCancelled = false;
  #upstreamId: string | undefined;
  #status: BackgroundProgress["status"] = "queued";
  /** Undefined while it is not in the store. */
  #writtenStatus: BackgroundProgress["status"] | undefined;
  readonly #begun: NewBackground;

  constructor({ scope, response, input, previousId, isStreamed, flush, turnOf }: RunOptions) {
    this.organizationId = scope.organizationId;
    this.projectName = scope.projectName;
    this.id = response.id;
    this.#response = response;
    this.#begun = { response, input, previousId, isStreamed };
    this.#flush = flush;
    this.turn = turnOf(this.cancellation);
    if (!isStreamed) return;
    this.log = new EventLog();
    for (const type of ownEvents) this.#append(type, { response });
  }

  /** As it is now. */
  get response(): JsonObject {
    return this.#response;
  }

  get isInStore(): boolean {
    return this.#writtenStatus !== undefined;
  }

  get isEnded(): boolean {
    return this.#status === "ended";
  }

  /** Undefined if the store has everything. */
  progress(): BackgroundProgress | undefined {
    const { organizationId, projectName, id } = this;
    const status = this.#status;
    const events = this.log?.unwritten();
    if (status === this.#writtenStatus && events === undefined) return undefined;
    const upstreamId = this.#upstreamId === id ? undefined : this.#upstreamId;
    const ending = this.isEnded ? { response: this.#response, engine: this.engine, upstreamId } : undefined;
    const begun = this.isInStore ? undefined : this.#begun;
    return { organizationId, projectName, id, status, begun, events, ending };
  }

  onWritten({ events, status }: BackgroundProgress): void {
    this.#writtenStatus = status;
    if (events !== undefined) this.log?.onWritten(events);
  }

  /** What is written to stay this process's, if nothing changed. */
  renewal(): BackgroundProgress {
    const { organizationId, projectName, id } = this;
    return { organizationId, projectName, id, status: this.#status, events: undefined, ending: undefined };
  }

  /** Ends it at once; the call stops as soon as its engine does. */
  cancel(): void {
    this.#isCancelled = !this.isEnded;
    this.stop(new AppError("client_closed", "The response was cancelled."));
  }

  stop(reason: AppError): void {
    this.cancellation.abort(reason);
    this.fail(reason);
  }

  /** Reads the events of the call until the response has ended. Never rejects. */
  async consume(events: AsyncIterable<WireEvent>): Promise<void> {
    try {
      await this.turn.begin();
      for await (const event of events) {
        if (!this.isEnded) this.#take(event);
        if (this.isEnded) return;
        if (this.log?.isFull === true) await this.#flush();
      }
      throw new AppError("upstream_failed", "The engine ended its stream before the answer was complete.");
    } catch (thrown) {
      this.fail(toAppError(thrown));
    } finally {
      this.turn.end();
    }
  }

  #take({ data }: WireEvent): void {
    const event = parseObject(data);
    const type = event?.["type"];
    if (event === undefined || typeof type !== "string") return;
    const { response } = event;
    if (isObject(response)) {
      if (typeof response["id"] === "string") this.#upstreamId = response["id"];
      if (lastTypes.has(type)) return this.#complete(type, this.#own(response));
    }
    if (ownEvents.has(type)) return;
    if (this.#status === "queued") {
      this.#status = "in_progress";
      this.#response = { ...this.#response, status: "in_progress" };
    }
    this.#append(type, isObject(response) ? { ...event, response: this.#own(response) } : event);
  }

  /** What the engine says of the response, under the ID that the client has. */
  #own(response: JsonObject): JsonObject {
    const { created_at, id, previous_response_id } = this.#response;
    return { ...response, id, created_at, previous_response_id, background: true, store: true };
  }

  #complete(type: string, response: JsonObject): void {
    const bytes = Buffer.byteLength(JSON.stringify(response));
    if (bytes > largestBackgroundResponse) {
      const limit = `at most ${largestBackgroundResponse} are kept of a response in the background`;
      return this.fail(new AppError("upstream_failed", `The response has ${bytes} bytes; ${limit}.`));
    }
    this.#end(type, response);
  }

  fail(error: AppError): void {
    if (this.isEnded) return;
    if (this.#isCancelled) this.#end("response.cancelled", { ...this.#response, status: "cancelled" });
    else this.#end("response.failed", { ...this.#response, status: "failed", error: failureOf(error) });
  }

  #end(type: string, response: JsonObject): void {
    this.#status = "ended";
    this.#response = response;
    this.#append(type, { response });
    this.log?.end();
  }

  #append(type: string, members: JsonObject): void {
    if (this.log === undefined) return;
    const data = JSON.stringify({ ...members, type, sequence_number: this.log.next });
    // The store has a line for each, with a space after the name.
    this.log.append({ name: /^\S{1,256}$/.test(type) ? type : "message", data });
  }
}
