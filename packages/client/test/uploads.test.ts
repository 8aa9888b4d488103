/** Files that are streamed while they are uploaded, which only the asynchronous client supports. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { after, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { AsyncSounding, ConfigurationError, type FileInput } from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
import { formOf, json, startScriptedServer } from "./scripted-server.ts";

const server = await startScriptedServer();
const sounding = new AsyncSounding({ apiKey: "sk-test", baseUrl: server.url, maxRetries: 2 });

async function* slowly(...texts: readonly string[]): AsyncGenerator<Uint8Array, void, void> {
  for (const text of texts) {
    await setImmediate();
    yield Buffer.from(text);
  }
}

const streams: readonly (readonly [string, () => FileInput])[] = [
  ["an asynchronous generator", () => slowly("one ", "two")],
  ["a stream of Node's", () => Readable.from(slowly("one ", "two"))],
  ["a stream of the web's", () => Readable.toWeb(Readable.from(slowly("one ", "two"))) as ReadableStream<Uint8Array>],
];

describe("a file that is produced while it is sent", () => {
  for (const [kind, make] of streams) {
    test(`may be ${kind}`, async () => {
      server.answer(async (response, request) => {
        const file = (await formOf(request)).get("file") as File;
        return json({ text: await file.text() })(response, request);
      });
      assert.equal((await sounding.audio.transcriptions.create({ model: "m", file: make() })).text, "one two");
    });

    test(`is refused by the synchronous client as ${kind}`, () => {
      const sync = new Sounding({ apiKey: "sk-test", baseUrl: server.url });
      assert.throws(
        () => sync.audio.transcriptions.create({ model: "m", file: make() }),
        (error) => error instanceof ConfigurationError && /is a stream/.test(error.message),
      );
    });
  }

  test("is not read faster than the server accepts it, and is released when the caller leaves", async () => {
    const live = createServer((incoming, response) => {
      // Answers immediately, and never reads on.
      incoming.pause();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ type: "transcript.text.delta", delta: "Six", text: "Six" })}\n\n`);
    }).listen(0, "127.0.0.1");
    await once(live, "listening");
    after(() => {
      live.closeAllConnections();
      live.close();
    });
    const client = new AsyncSounding({
      apiKey: "sk-test",
      baseUrl: `http://127.0.0.1:${(live.address() as AddressInfo).port}`,
    });
    let sentBytes = 0;
    let left = (): void => undefined;
    const isLeft = new Promise<void>((resolve) => {
      left = resolve;
    });
    async function* endless(): AsyncGenerator<Uint8Array, void, void> {
      try {
        for (;;) {
          // Yields, so that an upload without an end cannot block the process.
          await setImmediate();
          sentBytes += 65_536;
          yield new Uint8Array(65_536);
        }
      } finally {
        left();
      }
    }
    const stream = await client.audio.transcriptions.create({ model: "m", file: endless(), stream: true });
    for await (const event of stream) {
      assert.equal(event.type, "transcript.text.delta");
      // Without back-pressure, each turn of the event loop would read another piece: 128 MiB in total.
      for (let turn = 0; turn < 2_048; turn++) await setImmediate();
      break;
    }
    await isLeft;
    assert.ok(sentBytes < 64 * 1024 * 1024, `${sentBytes} bytes were read`);
  });

  test("is never buffered whole in memory", async () => {
    server.answer(json({ text: "heard" }));
    const script = `
      import { AsyncSounding } from "@sounding/client";
      let heldBytes;
      async function* file() {
        for (let count = 0; count < 1024; count += 1) yield new Uint8Array(65536);
        gc();
        heldBytes = process.memoryUsage().arrayBuffers;
      }
      await new AsyncSounding().audio.transcriptions.create({ model: "m", file: file() });
      console.log(heldBytes);`;
    const words = ["--expose-gc", "--input-type=module", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      cwd: import.meta.dirname,
      env: { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url },
    });
    // Swept memory is subtracted a little later.
    assert.ok(Number(stdout) < 40 * 1024 * 1024, `${stdout.trim()} of 67108864 bytes are held`);
  });
});
