/** The README's speech and transcription with the models of the first start, real weights included. */
import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { needs } from "./support/needs.ts";
import { realModels } from "./support/real-models.ts";
import { startServer } from "./support/running-server.ts";

test(
  "the README's example is spoken by a neural voice, and its transcript is right",
  {
    skip: needs("whisper-tiny.en", "piper-joe"),
  },
  async () => {
    await using server = await startServer();
    const models = join(server.dataDirectory, "models");
    await mkdir(models, { recursive: true });
    await symlink(dirname(realModels.voice), join(models, "voice"));
    await symlink(realModels.whisper, join(models, "whisper"));
    const modelOf = async (name: string): Promise<unknown> =>
      ((await (await server.call(`/v1/models/${name}`)).json()) as { engine?: string }).engine;
    // The server watches the folder.
    while ((await modelOf("tts-1")) !== "sherpa-onnx" || (await modelOf("whisper-1")) !== "sherpa-onnx")
      await delay(50);
    const input = "Hello from Sounding.";
    const speech = await server.call("/v1/audio/speech", {
      model: "tts-1",
      voice: "alloy",
      input,
      response_format: "mp3",
    });
    assert.equal(speech.headers.get("x-model"), "en_US-joe-medium");
    const form = new FormData();
    form.set("model", "whisper-1");
    form.set("stream", "true");
    form.set("file", await speech.blob(), "hello.mp3");
    const response = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}` },
      body: form,
    });
    const events = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
    const done = JSON.parse(events.at(-1)!.slice("data: ".length)) as { type: string; text: string };
    assert.equal(done.type, "transcript.text.done");
    assert.equal(done.text.toLowerCase(), input.toLowerCase());
  },
);
