/** README.md for a new user: its shell commands in their order, in a home without any files, against `npm start`. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { repository } from "./support/served-process.ts";
import { needs } from "./support/needs.ts";
import { childEnvironment } from "./support/child-environment.ts";

const marker = "=== the next block ===";

/** What each block prints, in the README's order. */
const expected: readonly (readonly [start: string, printed: RegExp])[] = [
  ["npx sounding chat", /sounding-trial.*^server +http:.*the profile default/ms],
  ["export SOUNDING_API_KEY", /^$/],
  ["curl http://127.0.0.1:4141/v1/audio/speech", /^$/],
  ["curl http://127.0.0.1:4141/v1/audio/transcriptions", needs("pocketsphinx") ? /not exist/ : /sounding.*\[DONE\]/is],
  ["npx sounding demo", /POST \/chat.*ERROR/s],
];

async function shellBlocks(): Promise<string[]> {
  const page = await readFile(join(repository, "README.md"), "utf8");
  return [...page.matchAll(/^```sh\n(?<code>.*?)^```$/gms)].map(({ groups }) => groups!["code"]!);
}

test(
  "every command of README.md works as pasted, in order, without setting anything",
  { skip: needs("curl") },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-readme-"));
    const home = join(folder, "home");
    const work = join(folder, "work");
    await mkdir(home);
    await mkdir(work);
    // The folder of the clone, except that the examples may write files.
    await symlink(join(repository, "node_modules"), join(work, "node_modules"));
    await writeFile(join(work, "package.json"), "{}");
    const [start, ...blocks] = await shellBlocks();
    const ending = blocks.pop();
    assert.equal(start, "npm ci && npm start\n");
    assert.equal(ending, "npm ci && npm test\n", "runs this test");
    assert.equal(blocks.length, expected.length);

    // Other tests may use the default port at the same time.
    const env = { ...childEnvironment, HOME: home, SOUNDING_PORT: "0", SOUNDING_INSTALL: "false" };
    const server = spawn("npm", ["start"], { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    try {
      let welcome = "";
      let log = "";
      server.stdout.on("data", (bytes: Buffer) => (welcome += bytes.toString()));
      server.stderr.on("data", (bytes: Buffer) => (log += bytes.toString()));
      const ended = once(server.stdout, "end");
      while (!welcome.includes("Ctrl-C")) {
        const isOver = await Promise.race([once(server.stdout, "data").then(() => false), ended.then(() => true)]);
        if (isOver) break;
      }
      const url = /running at (?<url>http:\S+)/.exec(welcome)?.groups?.["url"];
      assert.ok(url !== undefined, `${welcome}\n${log}`);
      // A random hour may have no failure.
      const runnable = (block: string): string =>
        block.replaceAll("http://127.0.0.1:4141", url).replace("npx sounding demo", "npx sounding demo --seed 7");
      const script = blocks.map(runnable).join(`echo '${marker}'\n`);
      const shell = spawn("bash", ["-e", "-c", script], {
        cwd: work,
        env: { ...childEnvironment, HOME: home },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const exited = once(shell, "exit");
      const [printed, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
      assert.deepEqual(await exited, [0, null], `${printed}\n${errors}`);
      for (const [index, output] of printed.split(`${marker}\n`).entries()) {
        const [begin, pattern] = expected[index]!;
        assert.ok(blocks[index]!.startsWith(begin), `${begin} is not block ${index + 2}`);
        assert.match(output, pattern, errors);
      }
      assert.ok((await readFile(join(work, "hello.mp3"))).length > 1000);
      assert.deepEqual(await readdir(join(home, ".local/share")), ["sounding"]);
    } finally {
      // npm, its shell and the server.
      process.kill(-server.pid!, "SIGTERM");
      if (server.exitCode === null) await once(server, "exit");
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  },
);
