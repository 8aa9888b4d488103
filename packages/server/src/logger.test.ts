import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Writable } from "node:stream";
import { test } from "node:test";
import { createLogger, redactText } from "./logger.ts";

test("no secret reaches the log, wherever it was placed", () => {
  let written = "";
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString();
      done();
    },
  });
  const logger = createLogger("info", { destination });
  const secret = "sk-AAAAplantedsecretplantedsecretplanted";
  logger.info(
    { deep: { headers: { authorization: `Bearer ${secret}` }, list: [{ password: "planted-password" }] } },
    `call with ${secret} failed`,
  );
  const basic = Buffer.from("grafana:planted-password").toString("base64");
  logger.info({ headers: ["authorization", `Basic ${basic}`] }, `sent authorization: Basic ${basic}`);
  logger.error(
    { error: new Error(`connect postgres://user:planted-password@db/x, ${secret}`, { cause: new Error(secret) }) },
    "failed",
  );
  assert.match(written, /call with sk-AAAA\[redacted\] failed/);
  assert.doesNotMatch(written, /planted/);
  assert.ok(!written.includes(basic.slice(0, 8)));
  for (const line of written.trim().split("\n")) JSON.parse(line);
});

test("text without secrets is unchanged", () => {
  assert.equal(redactText('{"task":"sk-short","model":"gpt"}'), '{"task":"sk-short","model":"gpt"}');
  assert.equal(redactText("HTTP Basic authentication was refused"), "HTTP Basic authentication was refused");
});

test("a process ends even if nobody reads its log", async () => {
  const module = new URL("./logger.ts", import.meta.url).href;
  const script = `
    const { createLogger } = await import(${JSON.stringify(module)});
    const logger = createLogger("info");
    for (let line = 0; line < 10_000; line++) logger.info({ text: "x".repeat(1000) }, "a line");
    await logger.close();
    process.exit(7);`;
  // The pipe of standard error is never read, and stays open.
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.pause();
  assert.deepEqual(await once(child, "exit"), [7, null]);
});
