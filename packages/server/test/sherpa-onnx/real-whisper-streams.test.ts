/** Whisper with real weights behind the API: the text that streams to several callers at a time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sentences } from "../../../../bench/transcription/sentences.ts";
import { countErrors, toWords } from "../../../../bench/transcription/word-errors.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { realModels } from "../../../../test/support/real-models.ts";
import { startServer, type RunningServer } from "../../../../test/support/running-server.ts";
import { joinSamples } from "../../src/audio/samples.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { speak } from "../pocketsphinx/spoken.ts";
import { silence } from "./spoken-tones.ts";

interface StreamEvent {
  readonly type: string;
  readonly delta?: string;
  readonly text?: string;
}

const rate = 16_000;

describe("Whisper behind the API", { skip: needs("whisper-tiny.en") }, () => {
  let server: RunningServer;
  beforeTests(async (stack) => {
    const folder = JSON.stringify(realModels.whisper);
    server = stack.use(
      await startServer(
        `engines: { local: { type: sherpa_onnx, models: { whisper: { kind: whisper, folder: ${folder} } } } }`,
      ),
    );
  });

  async function stream(samples: Float32Array): Promise<StreamEvent[]> {
    const form = new FormData();
    form.set("model", "whisper");
    form.set("stream", "true");
    form.set("file", new Blob([Buffer.from(encodeWav(samples, rate))]), "speech.wav");
    const response = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}` },
      body: form,
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
    return lines.map((line) => JSON.parse(line.slice("data: ".length)) as StreamEvent);
  }

  test("streams to four callers at a time what each of them said", async () => {
    const spoken = await Promise.all(
      [0, 1, 2, 3].map(async (caller) => {
        const own = sentences.slice(3 * caller, 3 * caller + 3);
        const said: Float32Array[] = [];
        for (const sentence of own)
          said.push((await speak(sentence, caller % 2 === 0 ? "slt" : "rms")).samples, silence(1));
        return { text: own.join(" "), samples: joinSamples(said) };
      }),
    );
    const all = await Promise.all(spoken.map(({ samples }) => stream(samples)));
    for (const [caller, events] of all.entries()) {
      const deltas = events.filter(({ type }) => type === "transcript.text.delta").map(({ delta }) => delta);
      assert.ok(deltas.length >= 3, `${deltas.length} deltas`);
      const done = events.at(-1)!;
      assert.deepEqual([done.type, done.text], ["transcript.text.done", deltas.join("")]);
      const { errors, words } = countErrors(toWords(spoken[caller]!.text), toWords(deltas.join("")));
      assert.ok(errors <= 0.2 * words, `${errors} errors in ${words} words: ${deltas.join("")}`);
    }
  });
});
