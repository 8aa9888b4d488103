/** Assembles a message from the events of a stream, and fails for a stream that a strict client would refuse. */
import assert from "node:assert/strict";
import type { WireEvent } from "../../src/engines/wire.ts";
import type { JsonObject } from "../../src/json-object.ts";

type Block = JsonObject & { readonly type: string };

interface Assembled extends JsonObject {
  readonly content: Block[];
  readonly usage: JsonObject;
}

/** The message that the events tell, with `input` parsed. */
export function assembleMessage(events: readonly WireEvent[]): Assembled {
  const parsed = events.map(({ name, data }) => {
    const event = JSON.parse(data) as JsonObject & { type: string };
    assert.equal(name, event.type, "an event is named by its type");
    return event;
  });
  const [first, ...rest] = parsed.filter(({ type }) => type !== "ping");
  assert.equal(first?.type, "message_start");
  const message = first?.["message"] as Assembled;
  assert.equal(message.content.length, 0);
  assert.equal(message["stop_reason"], null);
  let open: Block | undefined;
  let json = "";
  let hasEnding = false;
  for (const [position, event] of rest.entries()) {
    switch (event.type) {
      case "content_block_start":
        assert.equal(open, undefined, "blocks overlap");
        assert.equal(event["index"], message.content.length, "blocks are numbered in order");
        assert.equal(hasEnding, false, "a block after message_delta");
        open = { ...(event["content_block"] as Block) };
        json = "";
        message.content.push(open);
        break;
      case "content_block_delta": {
        assert.ok(open !== undefined, "a delta outside of a block");
        assert.equal(event["index"], message.content.length - 1);
        json += addDelta(open, event["delta"] as Block);
        break;
      }
      case "content_block_stop":
        assert.ok(open !== undefined, "the end of no block");
        assert.equal(event["index"], message.content.length - 1);
        if (open.type === "tool_use" && json !== "") open["input"] = JSON.parse(json);
        open = undefined;
        break;
      case "message_delta":
        assert.equal(open, undefined, "a block is still open");
        assert.equal(hasEnding, false, "a second message_delta");
        hasEnding = true;
        Object.assign(message, event["delta"]);
        Object.assign(message.usage, event["usage"]);
        break;
      case "message_stop":
        assert.equal(position, rest.length - 1, "message_stop is the last event");
        assert.ok(hasEnding, "message_stop without message_delta");
        break;
      default:
        assert.fail(`an unexpected event: ${event.type}`);
    }
  }
  assert.equal(rest.at(-1)?.type, "message_stop");
  return message;
}

/** @returns the piece of JSON */
function addDelta(block: Block, delta: Block): string {
  const append = (type: string, member: string): void => {
    assert.equal(block.type, type);
    block[member] = String(block[member]) + String(delta[member]);
  };
  switch (delta.type) {
    case "text_delta":
      append("text", "text");
      return "";
    case "thinking_delta":
      append("thinking", "thinking");
      return "";
    case "signature_delta":
      assert.equal(block["signature"], "", "a second signature");
      append("thinking", "signature");
      return "";
    case "input_json_delta":
      assert.equal(block.type, "tool_use");
      return String(delta["partial_json"]);
    default:
      return assert.fail(`an unexpected delta: ${delta.type}`);
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
