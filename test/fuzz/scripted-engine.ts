/** An OpenAI-compatible server for the fuzzed server: it answers at once and fails occasionally. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedEngine extends AsyncDisposable {
  readonly url: string;
}

const models = ["scripted-chat", "scripted-transcription"];
const completion = {
  id: "c",
  object: "chat.completion",
  created: 1_795_000_000,
  model: models[0],
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** The responses of chat calls, in rotation. */
const chatAnswers: readonly (readonly [status: number, body: string])[] = [
  [200, JSON.stringify(completion)],
  [200, JSON.stringify(completion)],
  [200, JSON.stringify(completion)],
  [500, "failed"],
  [200, "{"],
  [429, JSON.stringify({ error: { message: "slow down", type: "rate_limit_error", param: null, code: null } })],
];

export async function startScriptedEngine(): Promise<ScriptedEngine> {
  let calls = 0;
  const server = createServer((request, response) => {
    const answer = (status: number, body: string): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(body);
    };
    request.resume();
    request.on("error", () => {});
    request.once("end", () => {
      if (request.url === "/v1/models")
        return answer(200, JSON.stringify({ object: "list", data: models.map((id) => ({ id, object: "model" })) }));
      if (request.url === "/v1/audio/transcriptions")
        return answer(200, JSON.stringify({ text: "hello world", language: "en", duration: 1, segments: [] }));
      calls += 1;
      answer(...chatAnswers[calls % chatAnswers.length]!);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
