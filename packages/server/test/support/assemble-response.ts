/** Assembles a response from the events of a stream, and fails for a stream that a strict client would refuse. */
import assert from "node:assert/strict";
import { ResponseEvent, ResponseObject } from "../../src/api/responses-answer.ts";
import { satisfies } from "../../src/api/validate.ts";
import type { WireEvent } from "../../src/engines/wire.ts";
import type { JsonObject } from "../../src/json-object.ts";

type Event = JsonObject & { readonly type: string };

/** The members in which the pieces of an item's texts are, by the events that bring them. */
const texts: Readonly<Record<string, string>> = {
  output_text: "text",
  refusal: "refusal",
  reasoning_summary_text: "text",
  function_call_arguments: "arguments",
  custom_tool_call_input: "input",
};
const partsOf: Readonly<Record<string, string>> = { content_part: "content", reasoning_summary_part: "summary" };

/** An item while its events arrive. */
class OpenItem {
  readonly begun: JsonObject;
  readonly #pieces = new Map<string, string>();
  readonly #texts = new Map<string, string>();
  readonly #parts = new Map<string, unknown[]>();
  #openPart: string | undefined;
  done: JsonObject | undefined;

  constructor(begun: JsonObject) {
    assert.equal(begun["status"], "in_progress");
    this.begun = begun;
  }

  add(event: Event): void {
    assert.equal(this.done, undefined, `${event.type} after the item's end`);
    assert.equal(event["item_id"], this.begun["id"]);
    const [, kind, step] = /^response\.(?<kind>\w+)\.(?<step>added|delta|done)$/.exec(event.type) ?? [];
    const list = partsOf[kind ?? ""];
    const member = texts[kind ?? ""];
    if (list !== undefined) this.#addPart(event, { list, step });
    else if (member === undefined) assert.fail(`unknown event ${event.type}`);
    else if (step === "delta") this.#pieces.set(kind!, (this.#pieces.get(kind!) ?? "") + String(event["delta"]));
    else {
      assert.equal(event[member], this.#pieces.get(kind!) ?? "", `${event.type} repeats the deltas`);
      this.#pieces.delete(kind!);
      this.#texts.set(member, event[member]);
    }
  }

  #addPart(event: Event, { list, step }: { readonly list: string; readonly step: string | undefined }): void {
    const parts = this.#parts.get(list) ?? [];
    this.#parts.set(list, parts);
    assert.equal(event["content_index"] ?? event["summary_index"], parts.length, "parts are numbered in order");
    if (step === "added") {
      assert.equal(this.#openPart, undefined, "parts overlap");
      this.#openPart = list;
      return;
    }
    assert.equal(this.#openPart, list, "the end of no part");
    this.#openPart = undefined;
    const part = event["part"] as JsonObject;
    assert.equal(part["text"] ?? part["refusal"], this.#texts.get("refusal" in part ? "refusal" : "text"));
    parts.push(part);
  }

  end(item: JsonObject): void {
    assert.equal(this.#openPart, undefined, "a part is still open");
    assert.equal(this.#pieces.size, 0, "deltas without their end");
    for (const [list, parts] of this.#parts) assert.deepEqual(item[list], parts);
    for (const member of ["arguments", "input"]) {
      if (member in item) assert.equal(item[member], this.#texts.get(member));
    }
    for (const member of ["id", "type", "name", "call_id", "role"]) assert.equal(item[member], this.begun[member]);
    this.done = item;
  }
}

/** @returns the last event's response */
export function assembleResponse(events: readonly WireEvent[]): JsonObject {
  const parsed = events.map(({ name, data }, index) => {
    const event = JSON.parse(data) as Event;
    assert.ok(satisfies(ResponseEvent, { ...event }), data);
    assert.equal(name, event.type, "an event is named by its type");
    assert.equal(event["sequence_number"], index);
    return event;
  });
  assert.deepEqual(
    parsed.slice(0, 2).map(({ type }) => type),
    ["response.created", "response.in_progress"],
  );
  const items: OpenItem[] = [];
  for (const event of parsed.slice(2, -1)) {
    const index = Number(event["output_index"]);
    if (event.type === "response.output_item.added") {
      assert.equal(index, items.length, "items are numbered in order");
      items.push(new OpenItem(event["item"] as JsonObject));
    } else if (event.type === "response.output_item.done") items[index]!.end(event["item"] as JsonObject);
    else items[index]!.add(event);
  }
  const last = parsed.at(-1)!;
  const response = last["response"] as JsonObject;
  assert.ok(satisfies(ResponseObject, { ...response }));
  assert.equal(last.type, `response.${String(response["status"])}`);
  assert.equal(response["id"], (parsed[0]!["response"] as JsonObject)["id"]);
  assert.deepEqual(
    response["output"],
    items.map(({ done }) => done),
  );
  return response;
}
