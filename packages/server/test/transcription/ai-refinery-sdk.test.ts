/**
 * The AI Refinery SDK (`airefinery-sdk`), unchanged, transcribes. Set SOUNDING_TEST_PYTHON to a Python that can
 * `import air`; the tests are skipped without one.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import type { TranscriptionCall } from "../../src/engines/engine.ts";
import {
  delta,
  listen,
  scriptedTranscription,
  spoken,
  transcriptionEngine,
} from "../support/scripted-transcription.ts";
import { testSecret } from "../support/test-http.ts";
import { startTestTranscription, toneFile } from "../support/test-transcription.ts";

const run = promisify(execFile);

async function* dialogue(call: TranscriptionCall) {
  await listen(call);
  if (call.partials) yield delta("good");
  yield { ...spoken("good morning"), speaker: 0 };
  yield { ...spoken("to you", { startMs: 1_000 }), speaker: "unknown" as const };
}

const preamble = `
import asyncio, json, sys
from air import AIRefinery
from air.audio.asr_client import AsyncASRClient
key, url, path = sys.argv[1:]
file = open(path, "rb")
client = AIRefinery(api_key=key, base_url=url)
create = client.audio.transcriptions.create
`;
import { needs, python } from "../../../../test/support/needs.ts";

const cases: [name: string, code: string, expected: unknown][] = [
  ["gets a whole answer", 'print(json.dumps(create(model="scripted", file=file).text))', "good morning to you"],
  [
    "gets a verbose answer that its strict model takes, with extra_body and a strategy",
    `answer = create(model="scripted", file=file, response_format="verbose_json", timestamp_granularities=["word", "segment"],
    chunking_strategy={"type": "server_vad", "prefix_padding_ms": 4000}, extra_body={"language": "en"}, timeout=30)
print(json.dumps([answer.language, answer.duration, len(answer.words), answer.speakers, answer.segments[1].speaker_id]))`,
    ["en-US", 2, 4, ["Guest-1", "Unknown"], "Unknown"],
  ],
  [
    "gets events that its strict model takes",
    `events = list(create(model="scripted", file=file, stream=True, response_format="verbose_json", timestamp_granularities=["word", "segment"]))
text = "".join(event.text for event in events if event.type == "transcript.text.delta")
print(json.dumps([text == events[-1].text, [event.type for event in events].count("transcript.word"), events[-1].type]))`,
    [true, 4, "transcript.text.done"],
  ],
  [
    "gets all of them asynchronously",
    `async def main():
    client = AsyncASRClient(key, base_url=url)
    whole = await client.create(model="scripted", file=open(path, "rb"))
    words = ""
    async for event in await client.create(model="scripted", file=open(path, "rb"), stream=True):
        words += event.text if event.type == "transcript.text.delta" else ""
    print(json.dumps([whole.text, words]))
asyncio.run(main())`,
    ["good morning to you", "good morning to you"],
  ],
  [
    "raises an HTTP status error when a rule is broken",
    `try:
    create(model="scripted", file=file, timestamp_granularities=["word"])
except Exception as error:
    print(json.dumps([type(error).__name__, "400" in str(error)]))`,
    ["HTTPError", true],
  ],
];

describe("the AI Refinery SDK", { skip: needs("python") }, async () => {
  const model = scriptedTranscription({ transcribe: dialogue });
  const server = await startTestTranscription({ engines: [transcriptionEngine("scripted", model)] });
  const folder = await mkdtemp(join(tmpdir(), "sounding-reference-"));
  const path = join(folder, "talk.wav");
  await writeFile(path, new Uint8Array(await toneFile(2).arrayBuffer()));
  after(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  for (const [name, code, expected] of cases) {
    test(name, async () => {
      const env = { ...process.env, AIR_SILENT: "1" };
      const { stdout } = await run(python, ["-c", preamble + code, testSecret, server.url, path], { env });
      assert.deepEqual(JSON.parse(stdout.trim().split("\n").at(-1)!), expected, stdout);
    });
  }
});
