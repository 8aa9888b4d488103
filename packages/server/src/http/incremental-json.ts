/** Long values as JSON without holding the thread or memory: the text is made in pieces and sent as it is made. */
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";
import type { RouteResponse } from "./route.ts";

/** Lists up to here are written by one call of JSON.stringify, of longer ones so many items at a time. */
const itemsAtOnce = 64;
const pieceCharacters = 65_536;

/** A list whose items are made one by one while they are written. */
export class LazyList<Item> {
  readonly items: Iterable<Item>;

  constructor(items: Iterable<Item>) {
    this.items = items;
  }
}

/** The answer with a value of plain objects, lists and scalars: as a whole where it is short, else as a stream of the same text. */
export function incrementalJson(value: unknown): RouteResponse {
  if (!isLong(value)) return { kind: "json", value };
  return { kind: "stream", bytes: encoded(serialize(value, new CooperativeYield())), type: "application/json" };
}

/** Longer texts are written one by one: a list of them is long whatever its length. */
const longText = 16_384;

/** Whether it has a long list or text somewhere. */
function isLong(value: unknown): boolean {
  if (typeof value === "string") return value.length > longText;
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof LazyList) return true;
  if (Array.isArray(value)) return value.length > itemsAtOnce || value.some(isLong);
  return Object.values(value).some(isLong);
}

async function* serialize(value: unknown, yielder: CooperativeYield): AsyncGenerator<string> {
  if (typeof value !== "object" || !isLong(value)) yield JSON.stringify(value);
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

async function* serializeList(list: Iterable<unknown>, yielder: CooperativeYield): AsyncGenerator<string> {
  let before = "[";
  // Fewer at a time where items are long, which the first ones show.
  let atOnce = 1;
  let items: unknown[] = [];
  const take = (): string => {
    const text = before + JSON.stringify(items).slice(1, -1);
    if (text.length > pieceCharacters / 4) atOnce = Math.max(1, atOnce >> 1);
    else if (text.length < pieceCharacters / 16) atOnce = Math.min(itemsAtOnce, atOnce * 2);
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
    if (piece.length < pieceCharacters) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  if (piece !== "") yield Buffer.from(piece);
}
