/**
 * Passes calls through to an upstream that speaks the client's own wire: the body as it came but for the model's name, the
 * events as they come. Prompt caches, signatures and encrypted reasoning depend on it.
 */
import { AppError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import type { WireCall, WireModel } from "../wire.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import { EventStream } from "./event-stream.ts";
import { spliceJson } from "./json-splice.ts";
import { requestJson } from "./request-json.ts";
import type { TimeLimits } from "./time-limits.ts";
import { embeddedError } from "./upstream-error.ts";
import type { OutgoingRequest } from "./upstream-request.ts";

export interface WireModelOptions {
  readonly pool: ConnectionPool;
  readonly limits: TimeLimits;
  /** Names and values in turn; credentials among them. */
  readonly headers: readonly string[];
  /** For calls that do not have these. */
  readonly defaultHeaders?: Readonly<Record<string, string>>;
  /** The model's name in the body. */
  readonly model: string;
  /** Path and query of the wire, or of another operation under it. */
  pathOf(operation?: string): string;
  /** Parameters that the upstream would ignore silently. */
  readonly unsupportedParameters: readonly string[];
  readonly maxAnswerBytes: number;
  readonly maxEventBytes: number;
}

export function createWireModel(options: WireModelOptions): WireModel {
  const { maxEventBytes } = options;
  const toRequest = (call: WireCall, path: string, isStream: boolean): OutgoingRequest => {
    for (const name of options.unsupportedParameters) {
      if (call.request[name] == null) continue;
      throw new AppError("unsupported_parameter", `${name} is set; the model's engine does not support it.`, {
        param: name,
      });
    }
    const isSameModel = call.request["model"] === options.model;
    return {
      method: "POST",
      path,
      headers: outgoingHeaders(options, call, isStream ? "text/event-stream" : "application/json"),
      body: spliceJson(call.bytes, isSameModel ? call.changes : { ...call.changes, model: options.model }),
      signal: call.cancellation ?? call.signal,
      limits: options.limits,
      isStream,
    };
  };
  const answer = async (call: WireCall, path: string): Promise<JsonObject> => {
    const request = toRequest(call, path, false);
    return requestJson(options.pool, request, options.maxAnswerBytes, readAnswer);
  };
  return {
    complete: (call) => answer(call, options.pathOf()),
    ask: (operation, call) => answer(call, options.pathOf(operation)),
    stream(call, isLast) {
      const request = toRequest(call, options.pathOf(), true);
      return new EventStream((reader) => options.pool.open(request, reader), { maxEventBytes, isLast });
    },
  };
}

/** The engine's own headers take precedence over the client's: they may be credentials. */
function outgoingHeaders(
  { headers: own, defaultHeaders }: Pick<WireModelOptions, "headers" | "defaultHeaders">,
  call: WireCall,
  accept: string,
): string[] {
  const names = new Set(own.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const forwarded = Object.entries({ ...defaultHeaders, ...call.headers }).filter(([name]) => !names.has(name));
  const id = call.requestId === undefined ? [] : ["x-request-id", call.requestId];
  return [...own, ...forwarded.flat(), "content-type", "application/json", "accept", accept, ...id];
}

function readAnswer(value: unknown): JsonObject {
  if (!isObject(value)) throw new AppError("upstream_failed", "The engine's response is not a JSON object.");
  const error = embeddedError(value);
  if (error !== undefined) throw error;
  return value;
}
