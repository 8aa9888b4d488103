/** OpenAI's SDK, unchanged, with OpenAI's names of audio models and voices, answered by engines of this machine. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import OpenAI, { toFile } from "openai";
import { encodeWav } from "../packages/server/src/audio/wav-encoder.ts";
import { recordingRate, sentence } from "../packages/server/test/sherpa-onnx/spoken-tones.ts";
import { installedEspeakData, writeNeuralVoice } from "../packages/server/test/sherpa-onnx/tiny-neural-voices.ts";
import { writeTinyRecognizer } from "../packages/server/test/sherpa-onnx/tiny-recognizer.ts";
import { writeTinyVoice } from "../packages/server/test/sherpa-onnx/tiny-voice.ts";
import { needs } from "./support/needs.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

const clientOf = ({ url, key }: RunningServer): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });

/** Listed within moments, since the server watches the folder. */
async function untilListed(server: RunningServer, id: string): Promise<void> {
  while (!(await (await server.call("/v1/models")).text()).includes(`"${id}"`));
}

const modelsIn = ({ dataDirectory }: RunningServer): string => join(dataDirectory, "models");

async function modelOf(server: RunningServer, name: string): Promise<unknown> {
  return ((await (await server.call(`/v1/models/${name}`)).json()) as { root?: string }).root;
}

describe("OpenAI's names of audio models", () => {
  test("are answered by the bundled voices, a voice for each name, and are not listed", async () => {
    await using server = await startServer();
    const client = clientOf(server);
    const spoken = async (model: string, voice: string): Promise<string> => {
      const response = await client.audio.speech.create({ model, voice, input: "Hello.", response_format: "pcm" });
      assert.equal(response.headers.get("x-model"), "flite");
      return Buffer.from(await response.arrayBuffer()).toString("base64");
    };
    const alloy = await spoken("gpt-4o-mini-tts", "alloy");
    assert.equal(await spoken("tts-1", "alloy"), alloy);
    assert.equal(await spoken("tts-1-hd", "nova"), alloy);
    const male = await Promise.all(["onyx", "fable", "echo"].map((voice) => spoken("tts-1", voice)));
    assert.equal(new Set([alloy, ...male]).size, 4);
    assert.equal(await spoken("tts-1", "ash"), male[0]);
    const ids = (await Array.fromAsync(await client.models.list())).map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id) => /tts|whisper|gpt/.test(id)),
      [],
    );
    assert.equal(await modelOf(server, "tts-1"), "flite");
  });

  test("are answered by a pulled voice and a pulled recognizer as soon as there is one", async () => {
    await using server = await startServer();
    const client = clientOf(server);
    await writeTinyVoice(join(modelsIn(server), "tiny-voice"), { metadata: { voice: "en-us" } });
    await writeTinyVoice(join(modelsIn(server), "a-french-voice"), { metadata: { voice: "fr" } });
    await writeTinyRecognizer(join(modelsIn(server), "tiny-recognizer"), "nemo_ctc");
    for (const id of ["tiny-voice", "a-french-voice", "tiny-recognizer"]) await untilListed(server, id);
    const speech = await client.audio.speech.create({ model: "gpt-4o-mini-tts", voice: "alloy", input: "abc" });
    assert.equal(speech.headers.get("x-model"), "tiny-voice");
    const file = await toFile(encodeWav(sentence("▁one", "▁two"), recordingRate), "tones.wav");
    for (const model of ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"]) {
      const { data, response } = await client.audio.transcriptions.create({ model, file }).withResponse();
      assert.equal(response.headers.get("x-model"), "tiny-recognizer");
      assert.ok(data.text.length > 0, model);
    }
    const stream = await client.audio.transcriptions.create({ model: "whisper-1", file, stream: true });
    const events = await Array.fromAsync(stream);
    assert.equal(events.at(-1)?.type, "transcript.text.done");
  });

  test("are answered by a voice that is fast, before one of Kokoro", { skip: needs("espeak-ng") }, async () => {
    await using server = await startServer();
    await writeNeuralVoice(join(modelsIn(server), "a-kokoro"), "kokoro", installedEspeakData()!);
    await untilListed(server, "a-kokoro");
    assert.equal(await modelOf(server, "tts-1"), "a-kokoro");
    await writeTinyVoice(join(modelsIn(server), "tiny-voice"), { metadata: { voice: "en-us" } });
    await untilListed(server, "tiny-voice");
    assert.equal(await modelOf(server, "tts-1"), "tiny-voice");
  });

  test("belong to the configuration, to a vendor that lists them, and to an organization's allow-list", async () => {
    const vendor = createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      if (request.url === "/v1/models")
        response.end(JSON.stringify({ data: [{ id: "tts-1", object: "model", created: 1, owned_by: "vendor" }] }));
      else response.writeHead(200, { "content-type": "audio/pcm" }).end(Buffer.alloc(4_800));
    });
    vendor.listen(0, "127.0.0.1");
    await once(vendor, "listening");
    const base = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`;
    try {
      await using server = await startServer(`
engines: { vendor: { type: openai_compatible, base_url: "${base}", api_key: none } }
aliases: { tts-1-hd: flite/flite }
`);
      assert.equal(await modelOf(server, "tts-1"), "tts-1");
      assert.equal(await modelOf(server, "tts-1-hd"), "flite/flite");
      assert.equal(await modelOf(server, "gpt-4o-mini-tts"), "flite");
    } finally {
      vendor.close();
      vendor.closeAllConnections();
    }
  });

  test("do not exist without discovery", async () => {
    await using server = await startServer("discovery: { enabled: false }\n");
    const { status } = await server.call("/v1/audio/speech", { model: "tts-1", voice: "alloy", input: "a" });
    assert.equal(status, 404);
  });
});
