import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { AnswerRecord } from "../chat/answer-record.ts";
import type { JsonObject } from "../json-object.ts";
import { toEvent } from "./from-chunks.ts";
import { toChatUsage, toMessageUsage } from "./message-usage.ts";
import { messagesWire } from "./messages-wire.ts";

const usage = { input_tokens: 10, cache_read_input_tokens: 60, cache_creation_input_tokens: 30, output_tokens: 1 };
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: null };

describe("an upstream's stream", () => {
  const events = [
    toEvent({ type: "message_start", message: { ...message, content: [], usage } }),
    toEvent({ type: "ping" }),
    toEvent({ type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } }),
    toEvent({ type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } }),
    toEvent({ type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "sig" } }),
    toEvent({ type: "content_block_stop", index: 0 }),
    toEvent({ type: "content_block_start", index: 1, content_block: { type: "text", text: "" } }),
    toEvent({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Read" } }),
    toEvent({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "ing." } }),
    toEvent({ type: "content_block_delta", index: 1, delta: { type: "citations_delta", citation: {} } }),
    toEvent({ type: "content_block_stop", index: 1 }),
    toEvent({
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "a", name: "read", input: {} },
    }),
    toEvent({ type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"path":' } }),
    toEvent({ type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '"x"}' } }),
    toEvent({ type: "content_block_stop", index: 2 }),
    toEvent({ type: "something_new", index: 3 }),
    toEvent({
      type: "message_delta",
      delta: { stop_reason: "tool_use" },
      usage: { output_tokens: 25, input_tokens: null },
    }),
    toEvent({ type: "message_stop" }),
  ];

  test("tells content, usage and why it ended; counts of the start that the end leaves out stay", () => {
    const record = new AnswerRecord(true);
    const read = messagesWire.createReader();
    let counted;
    for (const event of events) {
      const chunk = read(event);
      if (chunk === undefined) continue;
      record.addChunk(chunk);
      counted = chunk.usage ?? counted;
    }
    assert.deepEqual([record.id, record.model, record.finishReasons], ["msg_1", "claude", ["tool_calls"]]);
    assert.deepEqual(record.choices, [
      { text: "Reading.", toolCalls: [{ id: "a", name: "read", arguments: '{"path":"x"}' }] },
    ]);
    assert.deepEqual(counted, {
      prompt_tokens: 100,
      completion_tokens: 25,
      total_tokens: 125,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    });
  });

  test("is complete with message_stop, and with nothing else", () => {
    assert.deepEqual(events.map((event) => messagesWire.isLast(event)).indexOf(true), events.length - 1);
    assert.ok(messagesWire.isLast({ name: undefined, data: '{"type": "message_stop"}' }));
    const text = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: '"message_stop"' } };
    assert.ok(!messagesWire.isLast({ name: undefined, data: JSON.stringify(text) }));
  });

  test("tells its failures", () => {
    const failed = (type: string) =>
      messagesWire.errorIn(toEvent({ type: "error", error: { type, message: "Overloaded" } }))?.code;
    assert.equal(failed("overloaded_error"), "overloaded");
    assert.equal(failed("rate_limit_error"), "rate_limited");
    assert.equal(failed("api_error"), "upstream_failed");
    assert.equal(failed("invalid_request_error"), "invalid_request");
    for (const data of ["", "null", '{"type":"error"}'])
      assert.equal(messagesWire.errorIn({ name: "error", data })?.code, "upstream_failed");
    for (const event of events) assert.equal(messagesWire.errorIn(event), undefined);
  });

  test("names the model as clients know it, and only in its first event", () => {
    const named = events.map((event) => messagesWire.withModel(event, "assistant"));
    const start = JSON.parse(named[0]!.data) as { message: JsonObject };
    assert.deepEqual(start.message, { ...message, model: "assistant", content: [], usage });
    for (const [index, event] of events.entries()) if (index > 0) assert.equal(named[index], event);
  });

  test("does not fail the call however strange its events are", () => {
    const read = messagesWire.createReader();
    const types = fc.constantFrom("message_start", "content_block_start", "content_block_delta", "message_delta", "x");
    const strange = fc.oneof(fc.jsonValue(), fc.constant({ toString: 1 }));
    fc.assert(
      fc.property(fc.option(types, { nil: undefined }), types, strange, fc.string(), (name, type, value, text) => {
        read({ name, data: text });
        read({ name, data: JSON.stringify(value) });
        const event = { type, index: value, delta: value, message: value, content_block: value, usage: value };
        read({ name, data: JSON.stringify(event) });
        read({
          name,
          data: JSON.stringify({
            ...event,
            message: { id: value, model: value },
            delta: { type: "text_delta", text: value },
          }),
        });
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

describe("an upstream's answer", () => {
  test("tells the same", () => {
    const completion = messagesWire.readAnswer({
      ...message,
      content: [
        { type: "thinking", thinking: "Hm.", signature: "sig" },
        { type: "text", text: "Reading." },
        { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
        { type: "something_new" },
      ],
      stop_reason: "max_tokens",
      usage: { ...usage, output_tokens_details: { thinking_tokens: 3 } },
    });
    assert.deepEqual(completion.choices, [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Reading.",
          reasoning_content: "Hm.",
          tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }],
        },
        finish_reason: "length",
      },
    ]);
    assert.deepEqual(completion.usage?.completion_tokens_details, { reasoning_tokens: 3 });
  });

  test("may be anything", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("content", "usage", "id", "stop_reason"), fc.jsonValue()), (answer) => {
        messagesWire.readAnswer(answer);
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

test("token counts are the same after a translation in both directions", () => {
  const count = fc.nat(100_000);
  fc.assert(
    fc.property(count, count, count, count, (input, read, written, output) => {
      const counts = {
        input_tokens: input,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        output_tokens: output,
      };
      assert.deepEqual(toMessageUsage(toChatUsage(counts)!), counts);
    }),
    { numRuns: propertyRuns(200) },
  );
});
