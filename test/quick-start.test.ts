/** What the README promises for `npm start`: a server, keys that are shown once, and three commands that work as printed. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { repository, serveProcess } from "./support/served-process.ts";

const run = promisify(execFile);

/** The welcome's commands, as pasted into a shell. */
function printedCommands(welcome: string): string[] {
  return welcome
    .split("from this folder:\n")[1]!
    .split("\n\n")
    .map((block) => block.trim())
    .filter((block) => block !== "");
}

async function shell(command: string): Promise<string> {
  // As in a terminal, nothing is piped in.
  const { stdout } = await run("bash", ["-c", `(${command}) < /dev/null`], { cwd: repository });
  return stdout;
}

describe("the quick start", () => {
  test("prints three things to try, and they work as printed", async (context) => {
    await using server = await serveProcess();
    const [curl, sounding, sdk, ...more] = printedCommands(server.output.stdout);
    assert.deepEqual(more, []);
    await context.test("curl", async () => {
      const answer = JSON.parse(await shell(`${curl} --silent`)) as { choices: { message: { content: string } }[] };
      assert.match(answer.choices[0]?.message.content ?? "", /sounding-trial/);
    });
    await context.test("the command sounding", async () => {
      assert.match(await shell(sounding!), /sounding-trial/);
    });
    await context.test("OpenAI's SDK", async () => {
      assert.match(await shell(sdk!), /sounding-trial/);
    });
  });

  test("shows the keys once, keeps them out of the log, and ends gracefully", async () => {
    await using server = await serveProcess();
    const keys = [...new Set(server.output.stdout.match(/sk-[\w-]{43}/g))];
    assert.equal(keys.length, 2, "an ordinary key and the operator's");
    await shell(printedCommands(server.output.stdout)[0]!);
    assert.equal(await server.end(), 0);
    assert.match(server.output.stderr, /"operation":"createChatCompletion"/);
    assert.match(server.output.stderr, /the server has stopped/);
    for (const key of keys) assert.ok(!server.output.stderr.includes(key), "a key is in the log");
  });
});
