/**
 * Serves chats in another wire: passed through where a model's upstream speaks it, translated to chat completions
 * elsewhere. Admission, routing, guardrails and telemetry are those of chat completions.
 */
import { ChatRequest } from "../api/chat-request.ts";
import { validate } from "../api/validate.ts";
import type { ChatCall, ChatModel } from "../engines/engine.ts";
import type { WireCall, WireEvent, WireModel } from "../engines/wire.ts";
import { AppError, toAppError } from "../errors.ts";
import type { ChatGuard } from "../guardrails/chat-guard.ts";
import type { CallerFields } from "../http/caller.ts";
import { encodeJson } from "../http/incremental-json.ts";
import type { RouteInput } from "../http/route.ts";
import type { JsonObject } from "../json-object.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import type { RoutedCall } from "../routing/try-route.ts";
import { reportEnd } from "../streams/report-end.ts";
import { admitChat, guardPrompt, restoreReadTexts, type ChatParts } from "./admit-chat.ts";
import { CallRecord } from "./call-record.ts";
import { complete } from "./complete.ts";
import { prepareChat } from "./prepare.ts";
import { PreparedCall } from "./prepared-call.ts";
import { toWireCall } from "./wire-call.ts";
import { readEvents, translatedEvents, withId } from "./wire-events.ts";
import { priced, type ServedAnswer, type WireAnswer } from "./wire-answer.ts";
import type { WireFormat, WireRequest } from "./wire.ts";

export type ReceivedCall<Request> = Pick<
  RouteInput<Request>,
  "body" | "bytes" | "texts" | CallerFields | "signal" | "cancellation" | "note"
>;

/** What is sent instead of what was received. */
export interface SentCall<Request> {
  readonly body?: Request;
  /** Top-level members in which `body` differs from `bytes`; undefined: removed. */
  readonly changes?: Readonly<Record<string, unknown>>;
  /** The engine that must take the call as it is, because it knows what the request refers to. */
  readonly engine?: string | undefined;
  /** The ID that the client gets, if it has one before the call. */
  readonly answerId?: string | undefined;
  /** Absent: a call to a full model fails. */
  readonly awaitRoom?: RoutedCall["awaitRoom"];
}

type WireInput<Request> = ReceivedCall<Request> & SentCall<Request>;

/** What served a call. */
export interface WireTarget {
  readonly engine: string;
  /** Whether the call was passed through. */
  readonly isNative: boolean;
}

/** @param onTarget called before the answer, or the first event, is returned */
export type ServeWire<Request> = (
  received: ReceivedCall<Request>,
  sent: SentCall<Request>,
  onTarget?: (target: WireTarget) => void,
) => Promise<ServedAnswer>;

export function createWire<Request extends WireRequest>(
  format: WireFormat<Request>,
  parts: ChatParts<RoutedChat>,
): ServeWire<Request> {
  return async (received, sent, onTarget) => {
    if (received.texts !== undefined) await restoreReadTexts(received.texts, received, parts);
    const { bytes, texts, scope, headers: requestHeaders, requestId, clientAddress, signal, cancellation } = received;
    const caller = { scope, headers: requestHeaders, requestId, clientAddress, note: received.note.bind(received) };
    const input: WireInput<Request> = { ...caller, body: received.body, bytes, texts, signal, cancellation, ...sent };
    const { body } = input;
    const described = { ...input, body: format.describe(body) };
    const guards = parts.guardFor(input.scope, body.model) !== undefined;
    const translate = once(() => prepareChat(validate(ChatRequest, format.toChatRequest(body))));
    const admitted = await admitChat(
      described,
      // Guardrails read chat requests and chunks.
      () => (guards ? translate() : { request: described.body, changes: {}, organizationId: undefined }),
      parts,
    );
    const { guard, promptTokens, admission, model } = admitted;
    const record = new CallRecord({
      request: admitted.request,
      guard,
      promptTokens,
      admission,
      input: described,
      parts,
    });
    const headers = admission.headers();
    const routed = { format, input, model, record, onTarget };
    if (guard === undefined) {
      const call = new RoutedWireCall(routed, translate);
      return body.stream === true
        ? { kind: "events", events: call.events(), headers }
        : priced(await call.answer(), record, headers);
    }
    const checked = await guardPrompt(guard, admitted, { signal: input.signal, record });
    const served = await serveGuarded(guard, await chatCall(checked.request, input, record), routed);
    return served.kind === "events" ? { ...served, headers } : priced(served.answer, record, headers);
  };
}

interface Routed<Request extends WireRequest> {
  readonly format: WireFormat<Request>;
  readonly input: WireInput<Request>;
  readonly model: RoutedChat;
  readonly record: CallRecord;
  readonly onTarget: ((target: WireTarget) => void) | undefined;
}

async function serveGuarded<Request extends WireRequest>(
  guard: ChatGuard,
  call: ChatCall,
  { format, input: { body, signal, engine, answerId }, model, record, onTarget }: Routed<Request>,
): Promise<WireAnswer> {
  if (engine !== undefined) {
    record.end(notAtEngine());
    throw notAtEngine();
  }
  const tell = (): void => onTarget?.({ engine: record.attempts.at(-1)?.engine ?? "", isNative: false });
  if (body.stream !== true) {
    const completion = withId(format.wire, await complete(model, call, { record, guard }));
    tell();
    return { kind: "answer", answer: format.fromCompletion(completion, body) };
  }
  const modelChunks = model.stream(call);
  const options = { signal, choiceCount: 1, onWithheld: () => record.onWithheld() };
  const open = () => guard.stream(modelChunks, options) ?? modelChunks;
  const events = translatedEvents(open, body, { format, record, tell, answerId });
  return { kind: "events", events: reportEnd(events, (error) => record.end(error)) };
}

/** One call without guardrails: each target gets it in the wire that it speaks. */
class RoutedWireCall<Request extends WireRequest> {
  readonly #routed: Routed<Request>;
  readonly #translate: () => { readonly request: ChatRequest };
  #translated: Promise<ChatCall> | undefined;
  #native: WireCall | undefined;

  constructor(routed: Routed<Request>, translate: () => { readonly request: ChatRequest }) {
    this.#routed = routed;
    this.#translate = translate;
  }

  async answer(): Promise<JsonObject> {
    const { format, input, model, record, onTarget } = this.#routed;
    try {
      const { value, modelId } = await model.answer(this.#routedCall, async (target, engine) => {
        const native = this.#nativeAt(target, engine);
        if (native === undefined) {
          const completion = withId(format.wire, await target.complete(await this.#chatCall()));
          return { completion, answer: undefined, engine };
        }
        const answer = await native.complete(this.#wireCall);
        return { completion: format.readAnswer(answer), answer, engine };
      });
      const completion = { ...value.completion, model: modelId };
      if (completion.usage !== undefined) record.onUsage(completion.usage, true);
      record.onCompletion(completion);
      record.end();
      onTarget?.({ engine: value.engine, isNative: value.answer !== undefined });
      return value.answer === undefined
        ? format.fromCompletion(completion, input.body)
        : { ...value.answer, model: modelId };
    } catch (thrown) {
      record.end(toAppError(thrown));
      throw thrown;
    }
  }

  events(): AsyncIterable<WireEvent> {
    const { format, input, model, record, onTarget } = this.#routed;
    const { answerId } = input;
    const events = model.items(this.#routedCall, (target, { engine, modelId }): AsyncIterable<WireEvent> => {
      const native = this.#nativeAt(target, engine);
      const tell = (): void => onTarget?.({ engine, isNative: native !== undefined });
      const observed = { format, record, tell, answerId, modelId };
      if (native !== undefined) return readEvents(native.stream(this.#wireCall, format.isLast), observed);
      return translatedEvents(async () => target.stream(await this.#chatCall()), input.body, observed);
    });
    return reportEnd(events, (error) => record.end(error));
  }

  get #routedCall(): PreparedCall {
    const { input, record } = this.#routed;
    return new PreparedCall({ request: record.request, changes: {} }, input, record);
  }

  /** The target's own way; undefined if it needs a translation. @throws AppError if the call cannot be translated */
  #nativeAt(target: ChatModel, engine: string): WireModel | undefined {
    const { format, input } = this.#routed;
    const native = target.wires?.[format.wire];
    if (input.engine === undefined) return native;
    if (native === undefined || input.engine !== engine) throw notAtEngine();
    return native;
  }

  /** @throws AppError if the call cannot be translated */
  #chatCall(): Promise<ChatCall> {
    const { input, record } = this.#routed;
    return (this.#translated ??= (async () => {
      await input.texts?.restore();
      return chatCall(this.#translate().request, input, record);
    })());
  }

  get #wireCall(): WireCall {
    const { format, input } = this.#routed;
    const { body, changes = {} } = input;
    return (this.#native ??= toWireCall(format, input, { request: body as WireRequest & JsonObject, changes }));
  }
}

/** The chat call of a translated request: its bytes are written anew. */
async function chatCall(request: ChatRequest, input: WireInput<unknown>, record: CallRecord): Promise<ChatCall> {
  const bytes = await encodeJson(request);
  return new PreparedCall({ request, changes: {} }, { ...input, bytes }, record);
}

function notAtEngine(): AppError {
  return new AppError(
    "unsupported_parameter",
    "The request refers to an earlier response that only the engine which made it knows, and that engine does not serve the model now.",
    { param: "previous_response_id" },
  );
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
