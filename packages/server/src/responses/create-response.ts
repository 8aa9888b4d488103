/** Generates a response, and stores it before the client learns its ID from the last event. */
import type { ResponseRequest } from "../api/responses-request.ts";
import type { ChatParts } from "../chat/admit-chat.ts";
import { createWire, type ReceivedCall, type ServeWire, type WireTarget } from "../chat/serve-wire.ts";
import type { WireEvent } from "../engines/wire.ts";
import { AppError } from "../errors.ts";
import { isObject, type JsonObject } from "../json-object.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import { largestStoredResponse, type StoredResponses } from "../tenancy/stored-responses.ts";
import type { Background } from "./background/background.ts";
import { continueConversation, withItemIds, withoutForeignReasoning, type Continued } from "./continue-conversation.ts";
import type { CreatedResponse } from "./created-response.ts";
import { failureOf } from "./failure.ts";
import { parseResponseEvent } from "./response-event.ts";
import { responsesWire } from "./responses-wire.ts";

export type CreateResponse = (input: ReceivedCall<ResponseRequest>) => Promise<CreatedResponse>;

export function createResponses(
  parts: ChatParts<RoutedChat>,
  { stored, background }: { readonly stored: StoredResponses; readonly background: Background },
): CreateResponse {
  const serve: ServeWire<ResponseRequest> = createWire(responsesWire, parts);
  return async (input) => {
    refuseOthers(input.body);
    if (input.body.background === true) return background.create(input, serve);
    const continued = await continueConversation(input.body, input.scope, stored);
    const call = new ResponseCall(input, continued, stored);
    const { body, engine } = continued;
    const changes: Readonly<Record<string, unknown>> = { ...withoutForeignReasoning(continued), ...call.storeChange };
    if (call.readsTexts || Object.hasOwn(changes, "input")) await input.texts?.restore();
    const answer = await serve(input, { body, changes, engine }, (target) => (call.target = target));
    const { headers } = answer;
    const errorEvent = (error: AppError, sequence: number): WireEvent => call.errorEvent(error, sequence);
    return answer.kind === "answer"
      ? { kind: "answer", answer: await call.finish(answer.answer), headers, errorEvent }
      : { kind: "events", events: call.events(answer.events), headers, errorEvent };
  };
}

/** What the server itself would have to do. @throws AppError unsupported_parameter */
function refuseOthers({ conversation }: ResponseRequest): void {
  if (conversation != null) {
    const advice = "conversations are not supported; continue one with previous_response_id.";
    throw new AppError("unsupported_parameter", `conversation is set; ${advice}`, { param: "conversation" });
  }
}

class ResponseCall {
  target: WireTarget | undefined;
  readonly #input: ReceivedCall<ResponseRequest>;
  readonly #continued: Continued;
  readonly #stored: StoredResponses;
  readonly #isStored: boolean;
  readonly #isSmall: boolean;
  /** As the first event told it, for an event that tells a failure. */
  #begun: JsonObject = {};

  constructor(input: ReceivedCall<ResponseRequest>, continued: Continued, stored: StoredResponses) {
    this.#input = input;
    this.#continued = continued;
    this.#stored = stored;
    this.#isSmall = input.bytes.length <= largestStoredResponse;
    this.#isStored = input.body.store !== false && stored.isEnabled;
  }

  /** Whether the response is stored with its input. */
  get readsTexts(): boolean {
    return this.#isStored && this.#isSmall;
  }

  /** Where nothing is stored, the upstream need not store it either. */
  get storeChange(): Readonly<Record<string, unknown>> {
    return this.#stored.isEnabled || this.#input.body.store === false ? {} : { store: false };
  }

  async finish(response: JsonObject): Promise<JsonObject> {
    const shown = this.#shown(response);
    if (!this.#isStored || typeof shown["id"] !== "string") return notStored(shown);
    const isAdded =
      (this.#isSmall && (await this.#add(shown, shown["id"]))) || (await this.#addName(shown["id"], shown));
    return isAdded ? shown : notStored(shown);
  }

  async #add(response: JsonObject, id: string): Promise<boolean> {
    const input = withItemIds(this.#continued.newItems, id);
    return this.#stored.add(this.#input.scope, { ...this.#place(id), input, response });
  }

  /** Of what is too large, enough to continue it where its engine has it. */
  async #addName(id: string, { output }: JsonObject): Promise<boolean> {
    const place = this.#place(id);
    if (place.engine === undefined) return false;
    const items = Array.isArray(output) ? output.filter(isObject) : [];
    const response = { id, output: items.map((item) => ({ id: item["id"] })) };
    return this.#stored.add(this.#input.scope, { ...place, input: [], response });
  }

  #place(id: string) {
    const engine = this.target?.isNative === true ? this.target.engine : undefined;
    return { id, engine, previousId: this.#input.body.previous_response_id ?? undefined };
  }

  async *events(events: AsyncIterable<WireEvent>): AsyncGenerator<WireEvent, void, undefined> {
    for await (const event of events) {
      const parsed = parseResponseEvent(event);
      if (parsed === undefined) {
        yield event;
        continue;
      }
      if (parsed.type === "response.created") this.#begun = this.#shown(parsed.response);
      const response = responsesWire.isLast(event) ? await this.finish(parsed.response) : this.#shown(parsed.response);
      yield parsed.with(response);
    }
  }

  errorEvent(error: AppError, sequence: number): WireEvent {
    const response = { ...this.#begun, status: "failed", error: failureOf(error) };
    const data = JSON.stringify({ type: "response.failed", sequence_number: sequence, response });
    return { name: "response.failed", data };
  }

  /** With the request's own parameters where they were resolved. */
  #shown(response: JsonObject): JsonObject {
    const { previous_response_id: previousId } = this.#input.body;
    return previousId == null ? response : { ...response, previous_response_id: previousId };
  }
}

function notStored(response: JsonObject): JsonObject {
  return response["store"] === false ? response : { ...response, store: false };
}
