/**
 * Resolves what a request refers to: the response that it continues, and items by their IDs. All must be the project's own;
 * what an engine has too is left for it, everything else is put into the input.
 */
import type { ResponseRequest } from "../api/responses-request.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { isObject, type JsonObject } from "../json-object.ts";
import type { StoredResponse, StoredResponses } from "../tenancy/stored-responses.ts";
import type { Scope } from "../tenant.ts";
import { isForeignReasoning } from "./kept-reasoning.ts";
import { itemsOf } from "./to-chat-messages.ts";

export interface Continued {
  readonly body: ResponseRequest;
  /** Top-level members in which `body` differs from what the client sent. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** The only engine that can serve the request: it has what the request refers to. */
  readonly engine: string | undefined;
  /** Of the stored responses that were put into `body`, as JSON. */
  readonly storedBytes: number;
  /** The items that are new. */
  readonly newItems: readonly JsonObject[];
}

const mostReferences = inputLimit({
  area: "Chat completions",
  bounds: "Items of stored responses that a request refers to",
  value: 1_000,
  error: "invalid_request",
});

/** @throws AppError invalid_request for what the project does not have */
export async function continueConversation(
  request: ResponseRequest,
  scope: Scope,
  stored: StoredResponses,
): Promise<Continued> {
  const { previous_response_id: previousId } = request;
  const conversation = previousId == null ? [] : await stored.conversation(scope, previousId);
  const newItems = itemsOf(request.input);
  const references = await findReferences(newItems, scope, stored);
  const engine = engineOf([...conversation, ...references.values()]);
  const unchanged = { body: request, changes: {}, engine, storedBytes: 0, newItems };
  if (engine !== undefined) return { ...unchanged, changes: knownThere(conversation) };
  const isUnchanged = conversation.length === 0 && references.size === 0 && !newItems.some(isForeignReasoning);
  if (isUnchanged) return unchanged;
  const earlier = conversation.flatMap(({ readInput, output }) => [...readInput(), ...output]);
  const resolved = newItems.map((item) => (isReference(item) ? referredItem(item, references) : item));
  const changes = { input: [...earlier, ...resolved], previous_response_id: undefined };
  const inserted = new Set([...conversation, ...references.values()]);
  const storedBytes = [...inserted].reduce((sum, { bytes }) => sum + bytes, 0);
  return { body: { ...request, input: changes.input }, changes, engine, storedBytes, newItems: resolved };
}

/** A response that was generated in the background has another ID at its engine. */
function knownThere(conversation: readonly StoredResponse[]): Readonly<Record<string, unknown>> {
  const upstreamId = conversation.at(-1)?.background?.upstreamId;
  return upstreamId === undefined ? {} : { previous_response_id: upstreamId };
}

/** The changes for an upstream that speaks the Responses API: it would refuse reasoning that another engine sealed. */
export function withoutForeignReasoning({ body, changes }: Continued): Readonly<Record<string, unknown>> {
  if (!Array.isArray(body.input) || !body.input.some(isForeignReasoning)) return changes;
  return { ...changes, input: body.input.filter((item) => !isForeignReasoning(item)) };
}

/** An item that only has an ID, as clients send it if responses are stored; the type may be left out. */
function isReference(item: JsonObject): item is JsonObject & { readonly id: string } {
  const { type, id } = item;
  return typeof id === "string" && (type === "item_reference" || (type == null && item["role"] === undefined));
}

async function findReferences(
  items: readonly JsonObject[],
  scope: Scope,
  stored: StoredResponses,
): Promise<ReadonlyMap<string, StoredResponse>> {
  const ids = new Set(items.filter(isReference).map(({ id }) => id));
  if (ids.size > mostReferences) {
    throw new AppError("invalid_request", `input refers to ${ids.size} items; at most ${mostReferences} are allowed.`, {
      param: "input",
    });
  }
  const holders = await stored.holders(scope, [...ids]);
  const responses = new Map<string, StoredResponse>();
  const found = new Map<string, StoredResponse>();
  for (const [id, holder] of holders) {
    const response = responses.get(holder) ?? (await stored.find(scope, holder));
    if (response === undefined) continue;
    responses.set(holder, response);
    found.set(id, response);
  }
  const missing = [...ids].find((id) => !found.has(id));
  if (missing === undefined) return found;
  const at = items.findIndex((item) => item["id"] === missing);
  throw new AppError(
    "invalid_request",
    `input[${at}].id is ${JSON.stringify(missing)}; the project has no such item, or no longer.`,
    { param: `input[${at}].id` },
  );
}

function referredItem({ id }: { readonly id: string }, references: ReadonlyMap<string, StoredResponse>): JsonObject {
  return references.get(id)?.output.find((item) => item["id"] === id) ?? { type: "item_reference", id };
}

/** @throws AppError invalid_request if no engine has everything */
function engineOf(responses: readonly StoredResponse[]): string | undefined {
  const engines = new Set(responses.map(({ engine }) => engine));
  engines.delete(undefined);
  const [engine, other] = engines;
  if (other === undefined) return engine;
  throw new AppError("invalid_request", "input refers to responses of several engines; send their items instead.", {
    param: "input",
  });
}

/** What was new, for the list of a response's items. */
export function withItemIds(items: readonly JsonObject[], responseId: string): JsonObject[] {
  const suffix = responseId.replace(/^resp_/, "");
  return items.map((item, index) =>
    isObject(item) && item["id"] === undefined ? { id: `msg_${suffix}_in_${index}`, ...item } : item,
  );
}
