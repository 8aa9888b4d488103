/** One request and its response: ID, cancellation, cost, and the fields of its log line. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Cancellation } from "../cancellation.ts";
import { AppError, type ErrorCode } from "../errors.ts";
import { redactText, type LogFields } from "../logger.ts";
import type { ResponseTarget } from "./reply.ts";
import type { ResponseHeaders } from "./route.ts";
import type { IndexedSetMember } from "../indexed-set.ts";
import type { CheckedSession } from "../session.ts";
import type { Scope } from "../tenant.ts";
import { RequestCost } from "../scheduling/request-cost.ts";

/** A finished request, for the log and the metrics. */
export interface FinishedRequest {
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  /** CPU time of the main thread in the measured steps. */
  readonly mainThreadMs: number;
  /** Time that the telemetry store spent on its queries. */
  readonly storeMs: number;
  readonly outcome: "ok" | ErrorCode;
  readonly fields: LogFields;
}

const noFields: LogFields = {};
const requestIdPattern = /^[\w.:-]{1,128}$/;

/** Whether an ID can be logged: it breaks no log line, and is not a key in the wrong header. */
function isSafeId(text: string): boolean {
  return requestIdPattern.test(text) && redactText(text) === text;
}

export class RequestContext implements ResponseTarget, IndexedSetMember {
  setIndex = -1;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly operation: string;
  readonly requestId: string;
  readonly cost: RequestCost;
  /** Headers of every response to this request. */
  responseHeaders: ResponseHeaders = {};
  scope: Scope | undefined;
  session: CheckedSession | undefined;
  readonly clientAddress: string | undefined;
  outcome: "ok" | ErrorCode = "ok";
  readonly #startMs = performance.now();
  readonly cancellation = new Cancellation();
  #fields: LogFields | undefined;
  readonly #onFinished: (request: RequestContext) => void;
  /** Serving and the response: both must end. */
  #openParts = 2;

  /** @param onFinished called once, when serving has ended and the response is sent or its connection closed */
  constructor(
    target: {
      request: IncomingMessage;
      response: ServerResponse;
      operation: string;
      clientAddress: string | undefined;
    },
    onFinished: (request: RequestContext) => void,
  ) {
    this.request = target.request;
    this.response = target.response;
    this.operation = target.operation;
    this.clientAddress = target.clientAddress;
    const given = target.request.headers["x-request-id"];
    this.requestId = typeof given === "string" && isSafeId(given) ? given : `req_${randomUUID()}`;
    this.cost = new RequestCost(target.operation, this.requestId);
    this.#onFinished = onFinished;
  }

  /** Call it once, when the response is sent or its connection has closed. */
  closed(): void {
    if (!this.response.writableFinished) {
      this.abort(new AppError("client_closed", "The client closed the connection."));
    }
    this.#endPart();
  }

  /** Call it once, when serving has ended. */
  served(): void {
    this.#endPart();
  }

  #endPart(): void {
    this.#openParts -= 1;
    if (this.#openParts === 0) this.#onFinished(this);
  }

  /** Aborts when the client disconnects or the server stops; the reason is an AppError. */
  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  abort(reason: AppError): void {
    if (this.cancellation.aborted) return;
    if (this.outcome === "ok") this.outcome = reason.code;
    this.cancellation.abort(reason);
  }

  note(fields: LogFields): void {
    this.#fields = this.#fields === undefined ? fields : { ...this.#fields, ...fields };
  }

  finished(): FinishedRequest {
    return {
      operation: this.operation,
      method: this.request.method ?? "",
      status: this.outcome === "client_closed" ? 499 : this.response.statusCode,
      durationMs: performance.now() - this.#startMs,
      mainThreadMs: this.cost.mainThreadMs,
      storeMs: this.cost.storeMs,
      outcome: this.outcome,
      fields: this.#fields ?? noFields,
    };
  }
}
