/** The welcome of `npm start`: what is ready, keys that are shown once and stored, and three commands that work as printed. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { repository, serveProcess } from "./support/served-process.ts";
import { childEnvironment } from "./support/child-environment.ts";

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), "sounding-quick-start-"));
after(() => rm(folder, { recursive: true }));

let homes = 0;
const newHome = (): string => join(folder, `home-${(homes += 1)}`);

/** The welcome's commands, as pasted into a shell. */
function printedCommands(welcome: string): string[] {
  return welcome
    .split("from this folder:\n")[1]!
    .split("\n")
    .filter((line) => line.startsWith("    "))
    .map((line) => line.trim());
}

/** Runs the command in the repository's folder, as the user with this home. */
async function shell(command: string, home: string): Promise<string> {
  // As in a terminal, nothing is piped in.
  const words = ["-c", `(${command}) < /dev/null`];
  const { stdout } = await run("bash", words, { cwd: repository, env: { ...childEnvironment, HOME: home } });
  return stdout;
}

describe("the quick start", () => {
  test("prints three things to try, and they work as printed, without setting anything", async (context) => {
    const home = newHome();
    await using server = await serveProcess({ HOME: home });
    const [chat, speak, demo, ...more] = printedCommands(server.output.stdout);
    assert.deepEqual(more, []);
    await context.test("chat", async () => assert.match(await shell(chat!, home), /sounding-trial/));
    await context.test("speech", async () => {
      const file = join(folder, "hello.mp3");
      await shell(speak!.replace("hello.mp3", file), home);
      assert.ok((await readFile(file)).length > 1000);
    });
    await context.test("sample telemetry", async () => assert.match(await shell(demo!, home), /POST \/chat/));
  });

  test("says what is ready, and where the data is", async () => {
    await using server = await serveProcess({ HOME: newHome() });
    assert.match(server.output.stdout, /^ {2}chat {12}ready {5}sounding-trial, a test model$/m);
    assert.match(server.output.stdout, /^ {2}speech {10}ready {5}.*flite/m);
    assert.match(server.output.stdout, /^ {2}transcription {3}(ready|adding|none) /m);
    assert.match(server.output.stdout, new RegExp(`^  telemetry {7}ready {5}stored in ${server.dataDirectory}$`, "m"));
    for (const line of server.output.stdout.split("\n")) assert.ok(line.length <= 80, line);
  });

  test("shows the keys once, keeps them out of the log, and ends gracefully", async () => {
    const home = newHome();
    await using server = await serveProcess({ HOME: home });
    const keys = [...new Set(server.output.stdout.match(/sk-[\w-]{43}/g))];
    assert.equal(keys.length, 2, "an ordinary key and the operator's");
    await shell(printedCommands(server.output.stdout)[0]!, home);
    assert.equal(await server.end(), 0);
    assert.match(server.output.stderr, /"operation":"createChatCompletion"/);
    assert.match(server.output.stderr, /the server has stopped/);
    for (const key of keys) assert.ok(!server.output.stderr.includes(key), "a key is in the log");
  });

  test("stores the first keys for the commands, and finds them again at the next start", async () => {
    const home = newHome();
    const quiet = { HOME: home, SOUNDING_TELEMETRY_ENABLED: "false" };
    await using first = await serveProcess(quiet);
    assert.match(first.output.stdout, /Shown only once, and stored in ~\/\.config\/sounding\/profiles\.json\./);
    assert.equal(await first.end(), 0);
    // On another port, as --port 0 chooses a new one.
    await using again = await serveProcess(quiet, { data: first.dataDirectory });
    assert.doesNotMatch(again.output.stdout, /sk-/);
    assert.match(
      await shell("npx sounding whoami", home),
      new RegExp(`^server +${again.url} \\(the profile default\\)$`, "m"),
    );

    // The default profile is taken: the second server gets its own.
    await using other = await serveProcess(quiet);
    const { host } = new URL(other.url);
    assert.match(other.output.stdout, new RegExp(`npx sounding chat "Hello!" --profile ${host}`));
    assert.match(await shell(`npx sounding whoami --profile ${host}`, home), new RegExp(`^server +${other.url}`, "m"));
    assert.match(await shell("npx sounding key list", home), /first key/);
  });

  test("has a link to the console that signs in once, at every start that knows a key", async () => {
    const quiet = { HOME: newHome(), SOUNDING_TELEMETRY_ENABLED: "false" };
    const signIn = async (welcome: string, url: string): Promise<Response> => {
      assert.match(welcome, /^ {2}Console, signed in; this link works once and for five minutes:$/m);
      const code = new RegExp(`^  ${url}/console/sign-in#code=(?<code>\\S+)$`, "m").exec(welcome)?.groups?.["code"];
      assert.ok(code !== undefined, welcome);
      assert.ok(welcome.indexOf(code) < welcome.indexOf("API documentation"));
      return fetch(`${url}/authentication/sessions`, { method: "POST", body: JSON.stringify({ code }), headers: json });
    };
    const json = { "content-type": "application/json" };
    await using first = await serveProcess(quiet);
    const session = (await (await signIn(first.output.stdout, first.url)).json()) as Record<string, unknown>;
    assert.deepEqual([session["key_name"], session["operator_key_name"]], ["first key", "operator"]);
    assert.equal((await signIn(first.output.stdout, first.url)).status, 401);
    assert.equal(await first.end(), 0);
    await using again = await serveProcess(quiet, { data: first.dataDirectory });
    assert.equal((await signIn(again.output.stdout, again.url)).status, 201);
    await again.end();

    await using stranger = await serveProcess({ ...quiet, HOME: newHome() }, { data: first.dataDirectory });
    const plain = new RegExp(`^  Console, where you sign in with an API key:\\n  ${stranger.url}/console/$`, "m");
    assert.match(stranger.output.stdout, plain);
  });

  test("says how to create a key if none of the server is stored", async () => {
    const quiet = { SOUNDING_TELEMETRY_ENABLED: "false" };
    await using first = await serveProcess(quiet);
    assert.match(first.output.stdout, /Shown only once; store them safely\./);
    await first.end();
    await using again = await serveProcess({ ...quiet, HOME: newHome() }, { data: first.dataDirectory });
    assert.match(again.output.stdout, /npx sounding key create laptop --local \| npx sounding login\n/);
  });
});
