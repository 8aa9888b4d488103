import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ChatCompletionChunk as chunkSchema, type ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import { satisfies } from "../../src/api/validate.ts";
import { ChunkStream } from "../../src/engines/openai-compatible/chunk-stream.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { chatModel, collect, contentOf, modelName, openEngine, toCall } from "./engine-call.ts";
import { recordedStreams, type RecordedStream } from "./recorded-streams.ts";

const untouched = { pause() {}, resume() {}, startStreaming() {}, expectErrorBody() {}, drain() {}, cancel() {} };
const limits = { maxEventBytes: 1_000_000, maxAnswerBytes: 1_000_000 };

/** The chunks of a body that arrives in these pieces, without a network. */
async function read(pieces: readonly Buffer[]): Promise<readonly ChatCompletionChunk[]> {
  const stream = new ChunkStream(
    (reader) => {
      reader.onStart(200, { "content-type": "text/event-stream" });
      for (const piece of pieces) reader.onData(piece);
      reader.onEnd();
      return untouched;
    },
    modelName,
    limits,
  );
  const { chunks, error } = await collect(stream);
  assert.equal(error, undefined);
  return chunks;
}

/** Tool calls as a client assembles them. */
function toolCallsOf(chunks: readonly ChatCompletionChunk[]) {
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const { choices } of chunks) {
    for (const piece of choices.flatMap(({ delta }) => delta.tool_calls ?? [])) {
      const call = (calls[piece.index] ??= { id: piece.id ?? "", name: piece.function?.name ?? "", arguments: "" });
      assert.ok(piece.id === undefined || piece.id === call.id, "a call's id changes");
      call.arguments += piece.function?.arguments ?? "";
    }
  }
  return calls;
}

function assertAsRecorded(chunks: readonly ChatCompletionChunk[], recorded: RecordedStream): void {
  for (const chunk of chunks) {
    assert.ok(satisfies(chunkSchema, chunk), JSON.stringify(chunk));
    assert.ok(!("error" in chunk));
    assert.equal(chunk.id, recorded.id);
    assert.equal(chunk.created, chunks[0]?.created);
    assert.equal(chunk.model, chunks[0]?.model);
  }
  assert.equal(contentOf(chunks), recorded.content);
  const reasons = chunks.flatMap(({ choices }) => choices.map((choice) => choice.finish_reason));
  assert.deepEqual(
    reasons.filter((reason) => reason !== null),
    [recorded.finishReason],
  );
  assert.deepEqual(toolCallsOf(chunks), recorded.toolCalls ?? []);
  const usages = chunks.filter(({ usage }) => usage != null);
  assert.equal(usages.length, recorded.usage === undefined ? 0 : 1, "chunks with usage");
  if (recorded.usage === undefined) return;
  assert.equal(chunks.at(-1), usages[0]);
  assert.deepEqual(usages[0]?.choices, []);
  const { prompt_tokens, completion_tokens, total_tokens } = usages[0]?.usage ?? {};
  assert.deepEqual({ prompt_tokens, completion_tokens, total_tokens }, recorded.usage);
}

describe("the stream of", () => {
  for (const recorded of recordedStreams) {
    const bytes = Buffer.from(recorded.text);

    test(recorded.engine, async () => {
      assertAsRecorded(await read([bytes]), recorded);
    });

    test(`${recorded.engine}: split at every byte, and into single bytes`, async () => {
      // Creation time and identifiers from the engine are the same every time; generated ones are not.
      const whole = JSON.stringify(await read([bytes]));
      for (let at = 1; at < bytes.length; at++) {
        assert.equal(JSON.stringify(await read([bytes.subarray(0, at), bytes.subarray(at)])), whole, `cut at ${at}`);
      }
      assert.equal(JSON.stringify(await read(Array.from(bytes, (byte) => Buffer.of(byte)))), whole);
    });

    test(`${recorded.engine}: byte by byte over the network`, async () => {
      await using upstream = await startScriptedUpstream(async (exchange) => {
        exchange.beginEvents();
        await exchange.drip(Array.from(bytes, (byte) => Buffer.of(byte)));
        exchange.end();
      });
      const engine = openEngine(upstream.url);
      const { chunks, error } = await collect(chatModel(engine).stream(toCall({ stream: true })));
      assert.equal(error, undefined);
      assertAsRecorded(chunks, recorded);
      await engine.close();
      assert.equal(upstream.aborts, 0);
    });
  }
});
