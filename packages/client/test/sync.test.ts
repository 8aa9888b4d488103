import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { ConfigurationError } from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
import { chunk, done, events, json, startScriptedServer } from "./scripted-server.ts";

const server = await startScriptedServer();

/** Runs a script that uses the synchronous client in its own process. */
async function runScript(script: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    env: { SOUNDING_API_KEY: "sk-env", SOUNDING_BASE_URL: server.url },
  });
  const closed = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}

describe("a script with the synchronous client", () => {
  test("streams in a plain loop and exits when it is done", async () => {
    server.answer(json({ object: "list", data: [{ id: "m" }] }), events([chunk("one "), chunk("two"), done]));
    const outcome = await runScript(`
      import { Sounding } from "@sounding/client/sync";
      const sounding = new Sounding();
      const [model] = sounding.models.list().data;
      const messages = [{ role: "user", content: "Hello?" }];
      for (const chunk of sounding.chat.completions.create({ model: model.id, messages, stream: true })) {
        process.stdout.write(chunk.choices[0].delta.content);
      }`);
    assert.deepEqual(outcome, { code: 0, stdout: "one two", stderr: "" });
  });

  test("exits when it leaves a stream open", async () => {
    server.answer(events([chunk("one")], true));
    const outcome = await runScript(`
      import { Sounding } from "@sounding/client/sync";
      const messages = [{ role: "user", content: "Hello?" }];
      new Sounding().chat.completions.create({ model: "m", messages, stream: true });`);
    assert.deepEqual(outcome, { code: 0, stdout: "", stderr: "" });
    await server.requests[0]!.closed;
  });
});

describe("the synchronous client", () => {
  test("refuses options that only the asynchronous client supports", () => {
    assert.throws(() => new Sounding({ apiKey: "sk-a", fetch: globalThis.fetch } as object), ConfigurationError);
    const apiKey = (async () => "sk-a") as unknown as () => string;
    assert.throws(() => new Sounding({ apiKey, baseUrl: server.url }).models.list(), /needs the key itself/);
  });
});
