/** Serializes long values to JSON incrementally, so that they neither block the event loop nor fill memory. */
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";
import type { RouteResponse } from "./route.ts";

/** Lists up to this length are serialized by one JSON.stringify; longer ones this many items at a time. */
const itemsAtOnce = 64;
const chunkCharacters = 65_536;

/** A list whose items are created one by one during serialization. */
export class LazyList<Item> {
  readonly items: Iterable<Item>;

  constructor(items: Iterable<Item>) {
    this.items = items;
  }
}

/** A list of converted items, converted one by one during serialization if there are many. */
export function convertedList<Item, Json>(
  items: ArrayLike<Item>,
  convert: (item: Item, index: number) => Json,
): readonly Json[] | LazyList<Json> {
  if (items.length <= itemsAtOnce) return Array.from(items, convert);
  return new LazyList({ [Symbol.iterator]: () => converted(items, convert) });
}

function* converted<Item, Json>(items: ArrayLike<Item>, convert: (item: Item, index: number) => Json): Generator<Json> {
  for (let index = 0; index < items.length; index++) yield convert(items[index]!, index);
}

/** A response with plain objects, lists and scalars: whole if they are short, else a stream of the same JSON. */
export function incrementalJson(value: unknown): RouteResponse {
  if (!isLong(value)) return { kind: "json", value };
  return { kind: "stream", bytes: encoded(serialize(value, new CooperativeYield())), type: "application/json" };
}

/** Longer strings are serialized one by one, even in a short list. */
const longText = 16_384;

/** Whether the value contains a long list or string. */
function isLong(value: unknown): boolean {
  if (typeof value === "string") return value.length > longText;
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof LazyList) return true;
  if (Array.isArray(value)) return value.length > itemsAtOnce || value.some(isLong);
  return Object.values(value).some(isLong);
}

/** The same JSON as JSON.stringify makes, in one buffer. */
export async function encodeJson(value: object): Promise<Buffer> {
  if (!isLong(value)) return Buffer.from(JSON.stringify(value));
  const pieces: Uint8Array[] = [];
  for await (const piece of encoded(serialize(value, new CooperativeYield()))) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* serialize(value: unknown, yielder: CooperativeYield): AsyncGenerator<string> {
  if (typeof value === "string" && value.length > chunkCharacters) yield* serializeText(value, yielder);
  else if (typeof value !== "object" || !isLong(value)) yield JSON.stringify(value);
  else if (Array.isArray(value)) yield* serializeList(value, yielder);
  else if (value instanceof LazyList) yield* serializeList(value.items, yielder);
  else {
    let before = "{";
    for (const [name, member] of Object.entries(value as object)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* serialize(member, yielder);
      before = ",";
    }
    yield "}";
  }
}

async function* serializeText(text: string, yielder: CooperativeYield): AsyncGenerator<string> {
  yield '"';
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + chunkCharacters);
    // Half of a pair would be escaped.
    if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end -= 1;
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  yield '"';
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

async function* serializeList(list: Iterable<unknown>, yielder: CooperativeYield): AsyncGenerator<string> {
  let before = "[";
  // Fewer at a time if the first items are long.
  let atOnce = 1;
  let items: unknown[] = [];
  const take = (): string => {
    const text = before + JSON.stringify(items).slice(1, -1);
    if (text.length > chunkCharacters / 4) atOnce = Math.max(1, atOnce >> 1);
    else if (text.length < chunkCharacters / 16) atOnce = Math.min(itemsAtOnce, atOnce * 2);
    items = [];
    before = ",";
    return text;
  };
  for (const item of list) {
    if (isLong(item)) {
      if (items.length > 0) yield take();
      yield before;
      before = ",";
      yield* serialize(item, yielder);
    } else if (items.push(item) >= atOnce) yield take();
    else continue;
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  if (items.length > 0) yield take();
  yield before === "[" ? "[]" : "]";
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < chunkCharacters) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  if (piece !== "") yield Buffer.from(piece);
}
