/**
 * Responses in the background: the client gets their ID at once, and asks for them later. Sounding itself keeps them, so they
 * work with every engine; an upstream gets an ordinary streamed call.
 * docs/adr/0009-upstreams-and-wires.md
 */
import { sleep } from "../../abort.ts";
import type { ResponseRequest } from "../../api/responses-request.ts";
import type { ReceivedCall, ServeWire } from "../../chat/serve-wire.ts";
import { createId } from "../../chat/wire-events.ts";
import type { WireEvent } from "../../engines/wire.ts";
import { AppError } from "../../errors.ts";
import type { JsonObject } from "../../json-object.ts";
import type { BackgroundStore } from "../../tenancy/background-store.ts";
import { largestStoredResponse, type StoredResponse, type StoredResponses } from "../../tenancy/stored-responses.ts";
import type { Scope } from "../../tenant.ts";
import { continueConversation, withItemIds, withoutForeignReasoning } from "../continue-conversation.ts";
import type { CreatedResponse } from "../created-response.ts";
import { failureOf } from "../failure.ts";
import { beginResponse } from "../response-object.ts";
import { responsesWire } from "../responses-wire.ts";
import type { BackgroundRun } from "./background-run.ts";
import type { BackgroundRuns } from "./background-runs.ts";
import { followEvents } from "./follow-events.ts";

/** How long a cancellation waits for the process that generates the response, and how often it looks. */
const cancelTimeoutMs = 5_000;
const cancelPollMs = 100;

export interface BackgroundParts {
  readonly stored: StoredResponses;
  readonly store: BackgroundStore;
  readonly runs: BackgroundRuns;
}

export class Background {
  readonly #stored: StoredResponses;
  readonly #store: BackgroundStore;
  readonly #runs: BackgroundRuns;

  constructor({ stored, store, runs }: BackgroundParts) {
    this.#stored = stored;
    this.#store = store;
    this.#runs = runs;
  }

  /** @throws AppError for what an ordinary call would refuse before its model is asked */
  async create(received: ReceivedCall<ResponseRequest>, serve: ServeWire<ResponseRequest>): Promise<CreatedResponse> {
    const { body, bytes, scope, requestId, headers, clientAddress } = received;
    this.#refuse(received);
    // It is stored, and outlives the request.
    await received.texts?.restore();
    const continued = await continueConversation(body, scope, this.#stored);
    const isStreamed = body.stream === true;
    const response = queuedResponse(body);
    const input = withItemIds(continued.newItems, response.id);
    const previousId = body.previous_response_id ?? undefined;
    const requestBytes = bytes.length + continued.storedBytes;
    const run = this.#runs.open({ scope, requestId, requestBytes, response, input, previousId, isStreamed });
    const { cancellation } = run;
    // The call goes on when the client leaves.
    const note: typeof received.note = (fields) => this.#runs.note(run, fields);
    const call = {
      body,
      bytes,
      scope,
      headers,
      requestId,
      clientAddress,
      note,
      cancellation,
      signal: cancellation.signal,
    };
    try {
      const sent = {
        body: { ...continued.body, stream: true },
        changes: { ...withoutForeignReasoning(continued), background: undefined, stream: true },
        engine: continued.engine,
        answerId: run.id,
        awaitRoom: (error: AppError) => run.turn.awaitRoom(error),
      };
      const answer = await serve(call, sent, ({ engine, isNative }) => (run.engine = isNative ? engine : undefined));
      const events = answer.kind === "events" ? answer.events : noEvents();
      try {
        await this.#runs.store(run);
      } catch (error) {
        // The call is admitted: it must end, too.
        run.cancel();
        void run.consume(events);
        throw error;
      }
      void this.#runs.generate(run, events);
      const { headers: answerHeaders } = answer;
      if (!isStreamed) return { kind: "answer", answer: response, headers: answerHeaders, errorEvent };
      return {
        kind: "events",
        events: this.#follow(scope, run.id, { from: 0, signal: received.signal }),
        headers: answerHeaders,
        errorEvent,
      };
    } catch (error) {
      this.#runs.discard(run);
      throw error;
    }
  }

  #refuse({ body, bytes }: ReceivedCall<ResponseRequest>): void {
    if (!this.#stored.isEnabled) {
      const reason = "this server keeps no responses (storage.response_retention_days is 0)";
      throw new AppError("unsupported_parameter", `background is true, but ${reason}.`, { param: "background" });
    }
    if (body.store === false) {
      const reason = "a response in the background must be kept; leave store out";
      throw new AppError("invalid_request", `store is false, but background is true; ${reason}.`, { param: "store" });
    }
    if (bytes.length > largestStoredResponse) {
      const size = `The request has ${bytes.length} bytes; in the background at most ${largestStoredResponse} are allowed`;
      throw new AppError("payload_too_large", `${size}, since it is kept.`, { param: "background" });
    }
  }

  /** As it is now; undefined if the project has none with this ID. */
  async find(scope: Scope, id: string): Promise<StoredResponse | undefined> {
    const found = await this.#stored.find(scope, id);
    const run = this.#runs.find(scope, id);
    if (found !== undefined && run !== undefined) return { ...found, response: run.response };
    if (found?.background?.isLost !== true) return found;
    await this.#giveUp(scope, found);
    return this.#stored.find(scope, id);
  }

  async #giveUp({ organizationId, projectName }: Scope, { id, response }: StoredResponse): Promise<void> {
    const error = new AppError("internal", "The server stopped before the response was complete.");
    const failed: JsonObject = { ...response, status: "failed", error: failureOf(error) };
    const eventOf = (sequence: number) => {
      const data = JSON.stringify({ type: "response.failed", sequence_number: sequence, response: failed });
      return { first: sequence, events: [{ name: "response.failed", data }] };
    };
    await this.#store.giveUp({ organizationId, projectName, id }, { response: failed, eventOf });
  }

  /** The events after one, the newest as they come. @throws AppError */
  async events(
    scope: Scope,
    found: StoredResponse,
    { after, signal }: { readonly after: number; readonly signal: AbortSignal },
  ): Promise<CreatedResponse> {
    if (found.background?.isStreamed !== true) {
      const reason = "only responses that were created with background and stream can be streamed again";
      throw new AppError("unsupported_parameter", `stream is true; ${reason}.`, { param: "stream" });
    }
    const from = after + 1;
    return {
      kind: "events",
      events: this.#follow(scope, found.id, { from, signal }),
      headers: {},
      errorEvent: (error, count) => errorEvent(error, from + count),
    };
  }

  #follow(scope: Scope, id: string, options: { readonly from: number; readonly signal: AbortSignal }) {
    const { organizationId, projectName } = scope;
    const source = {
      log: () => this.#runs.find(scope, id)?.log,
      read: (from: number) => this.#store.events({ organizationId, projectName, id }, from),
      isEnded: async () => {
        const found = await this.find(scope, id);
        if (found === undefined) throw new AppError("not_found", `The response ${JSON.stringify(id)} was deleted.`);
        return found.background?.status === "ended";
      },
    };
    return followEvents(source, { ...options, organizationId });
  }

  /** @returns the response, ended unless the process that generates it does not react @throws AppError invalid_request */
  async cancel(scope: Scope, found: StoredResponse, signal: AbortSignal): Promise<JsonObject> {
    const { id, background } = found;
    const run = this.#runs.find(scope, id);
    if (run !== undefined) {
      await this.#runs.cancel(run);
      return run.response;
    }
    if (background === undefined) {
      const reason = "only responses that were created with background can be cancelled";
      const message = `The response ${JSON.stringify(id)} was not created in the background; ${reason}.`;
      throw new AppError("invalid_request", message, { param: "response_id" });
    }
    if (background.status === "ended") return found.response;
    const { organizationId, projectName } = scope;
    await this.#store.askToCancel({ organizationId, projectName, id });
    const deadlineMs = performance.now() + cancelTimeoutMs;
    for (let now: StoredResponse | undefined = found; ;) {
      if (now === undefined || now.background?.status === "ended" || performance.now() > deadlineMs)
        return (now ?? found).response;
      await sleep(cancelPollMs, signal);
      signal.throwIfAborted();
      now = await this.find(scope, id);
    }
  }

  /** Stops a response that was deleted. Another process notices by itself. */
  onRemoved(scope: Scope, id: string): void {
    const run: BackgroundRun | undefined = this.#runs.find(scope, id);
    if (run !== undefined) this.#runs.forget(run);
  }
}

function queuedResponse(body: ResponseRequest): JsonObject & { readonly id: string } {
  const id = createId("responses");
  const begun = beginResponse({ id, created: Math.floor(Date.now() / 1000), model: body.model }, body);
  return { ...begun, id, status: "queued", background: true };
}

function errorEvent(error: AppError, sequence: number): WireEvent {
  return responsesWire.errorEvent(error, sequence);
}

async function* noEvents(): AsyncGenerator<WireEvent, void, undefined> {}
