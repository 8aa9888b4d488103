/** Continues raw prompts, batch or streaming: with the admission, routing, guardrails and telemetry of chats. */
import type { ChatCompletionChunk, ChatUsage } from "../api/chat-answer.ts";
import type { CompletionRequest } from "../api/completions.ts";
import { admitChat, guardPrompt, type AdmittedChat, type ChatParts } from "../chat/admit-chat.ts";
import { CallRecord } from "../chat/call-record.ts";
import { observeChunk } from "../chat/chunks.ts";
import { PreparedCall } from "../chat/prepared-call.ts";
import { toWireCall } from "../chat/wire-call.ts";
import type { ChatModel } from "../engines/engine.ts";
import { toTextChunk, type TextCompletionModel } from "../engines/text-completion.ts";
import type { WireCall } from "../engines/wire.ts";
import { AppError, toAppError } from "../errors.ts";
import type { ChatGuard } from "../guardrails/chat-guard.ts";
import type { RouteInput, RouteResponse } from "../http/route.ts";
import type { JsonObject } from "../json-object.ts";
import { costHeaders, pricedAnswer, withCost } from "../pricing/call-costs.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import { reportEnd } from "../streams/report-end.ts";
import { choiceCount, describeCompletion, requireTexts, withCheckedTexts } from "./describe-request.ts";
import { readChunk, readCompletion, withTexts } from "./text-answer.ts";

export function createTextCompletions(
  parts: ChatParts<RoutedChat>,
): (input: RouteInput<CompletionRequest>) => Promise<RouteResponse> {
  return async (input) => {
    const { body, bytes, scope, headers, requestId, clientAddress, note } = input;
    const described = {
      bytes,
      scope,
      headers,
      requestId,
      clientAddress,
      note,
      body: describeCompletion(body),
      operation: "text_completion" as const,
    };
    const prepare = () => {
      checkRules(body);
      if (parts.guardFor(scope, body.model) !== undefined) requireTexts(body);
      return { request: described.body, changes: {}, organizationId: undefined };
    };
    const admitted = await admitChat(described, prepare, parts);
    const call = new TextCall(input, admitted, new CallRecord({ ...admitted, input: described, parts }));
    await call.checkPrompt();
    return body.stream === true ? call.stream() : call.answer();
  };
}

function checkRules({ stream, stream_options: options }: CompletionRequest): void {
  if (options == null || stream === true) return;
  const message = "stream_options is set, but stream is not true; it is only allowed when stream is true.";
  throw new AppError("invalid_request", message, { param: "stream_options" });
}

class TextCall {
  readonly #input: RouteInput<CompletionRequest>;
  readonly #admitted: AdmittedChat<RoutedChat>;
  readonly #record: CallRecord;
  readonly #count: number;
  /** What guardrails changed in the request. */
  #changes: Readonly<Record<string, unknown>> = {};

  constructor(input: RouteInput<CompletionRequest>, admitted: AdmittedChat<RoutedChat>, record: CallRecord) {
    this.#input = input;
    this.#admitted = admitted;
    this.#record = record;
    this.#count = choiceCount(input.body);
  }

  async checkPrompt(): Promise<void> {
    const { guard, request } = this.#admitted;
    if (guard === undefined) return;
    const { signal, body } = this.#input;
    const checked = await guardPrompt(guard, { request, changes: {} }, { signal, record: this.#record });
    if (checked.request !== request) this.#changes = withCheckedTexts(body, checked.request);
  }

  async answer(): Promise<RouteResponse> {
    const { admission, guard, model } = this.#admitted;
    const record = this.#record;
    const headers = admission.headers();
    try {
      const call = this.#wireCall;
      const { value, modelId } = await model.answer(this.#routedCall, (target) => this.#modelOf(target).complete(call));
      const answer: JsonObject = { ...value, model: modelId };
      const completion = readCompletion(answer, this.#count);
      if (completion.usage !== undefined) record.onUsage(completion.usage, true);
      const checked = guard === undefined ? completion : await guard.completion(completion, this.#input.signal);
      record.onCompletion(checked);
      record.end();
      const shown = checked === completion ? answer : withTexts(answer, checked);
      return {
        kind: "json",
        value: pricedAnswer(shown, record.toldCost),
        headers: { ...headers, ...costHeaders(record.toldCost) },
      };
    } catch (thrown) {
      record.end(toAppError(thrown));
      throw thrown;
    }
  }

  stream(): RouteResponse {
    const { admission, guard } = this.#admitted;
    const source = this.#chunks();
    const chunks = guard === undefined ? source : this.#guarded(guard, source);
    return { kind: "events", events: this.#frames(chunks), headers: admission.headers() };
  }

  async *#frames(chunks: AsyncIterable<ReadChunk>): AsyncGenerator<string, void, undefined> {
    const asksUsage = this.#input.body.stream_options?.include_usage === true;
    let usage: ChatUsage | undefined;
    let last: JsonObject = {};
    for await (const { answered, chunk } of reportEnd(chunks, (error) => this.#record.end(error))) {
      if (chunk.usage != null) usage = chunk.usage;
      // Chunks that only tell the usage are left out.
      if (!observeChunk(chunk, this.#record)) continue;
      last = { ...answered, usage: undefined };
      yield JSON.stringify(asksUsage ? { ...answered, usage: null } : last);
    }
    if (!asksUsage || usage === undefined) return;
    yield JSON.stringify({ ...last, choices: [], usage: withCost(usage, this.#record.toldCost) });
  }

  /** The engine's chunks, each also as a chunk of a chat. */
  async *#chunks(): AsyncGenerator<ReadChunk, void, undefined> {
    const call = this.#wireCall;
    let model = "";
    const items = this.#admitted.model.items(this.#routedCall, (target, { modelId }) => {
      model = modelId;
      return this.#modelOf(target).stream(call);
    });
    for await (const item of items) {
      this.#record.onModel(model);
      const answered = { ...item, model };
      yield { answered, chunk: readChunk(answered, this.#count) };
    }
  }

  #guarded(guard: ChatGuard, source: AsyncIterable<ReadChunk>): AsyncIterable<ReadChunk> {
    const record = this.#record;
    const options = { signal: this.#input.signal, choiceCount: this.#count, onWithheld: () => record.onWithheld() };
    const chunks = chunksOf(source);
    const guarded = guard.stream(chunks, options);
    // Without guardrails on answers, everything that the engine tells is passed on.
    return guarded === chunks ? source : written(guarded);
  }

  get #routedCall(): PreparedCall {
    return new PreparedCall({ request: this.#record.request, changes: {} }, this.#input, this.#record);
  }

  get #wireCall(): WireCall {
    const changes = this.#changes;
    return toWireCall({ forwardedHeaders: [] }, this.#input, { request: { ...this.#input.body, ...changes }, changes });
  }

  /** @throws AppError unsupported_parameter */
  #modelOf({ completions }: ChatModel): TextCompletionModel {
    if (completions !== undefined) return completions;
    const name = JSON.stringify(this.#input.body.model);
    const message = `The model ${name} cannot continue a raw prompt; use POST /v1/chat/completions.`;
    throw new AppError("unsupported_parameter", message, { param: "model" });
  }
}

interface ReadChunk {
  /** As the client gets it. */
  readonly answered: JsonObject;
  readonly chunk: ChatCompletionChunk;
}

async function* chunksOf(source: AsyncIterable<ReadChunk>): AsyncGenerator<ChatCompletionChunk, void, undefined> {
  for await (const { chunk } of source) yield chunk;
}

async function* written(chunks: AsyncIterable<ChatCompletionChunk>): AsyncGenerator<ReadChunk, void, undefined> {
  for await (const chunk of chunks) yield { answered: toTextChunk(chunk), chunk };
}
