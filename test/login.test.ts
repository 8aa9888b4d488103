/** `sounding login`, `logout` and `whoami`, and how the commands find their server and key. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runSounding } from "../packages/cli/test/run-sounding.ts";
import { repository } from "./support/served-process.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";
import { childEnvironment } from "./support/child-environment.ts";
import { onlyOnLinux } from "./support/needs.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-login-"));
let server: RunningServer;
beforeTests(async (stack) => {
  stack.defer(() => rm(folder, { recursive: true }));
  server = stack.use(await startServer());
});

let homes = 0;

/** A user without any files, and their commands. */
async function newUser() {
  const home = join(folder, `home-${(homes += 1)}`);
  await mkdir(home);
  const sounding = (words: string, { env = {}, input = "" }: { env?: Record<string, string>; input?: string } = {}) =>
    runSounding(words.split(" "), { env: { HOME: home, ...env }, input });
  const file = join(home, ".config/sounding/profiles.json");
  return { home, file, sounding };
}

/** A user who has logged in with both keys. */
async function loggedInUser() {
  const user = await newUser();
  for (const key of [server.key, server.operatorKey]) {
    const { code, stderr } = await user.sounding(`login --url ${server.url}`, { input: `${key}\n` });
    assert.deepEqual([code, stderr], [0, ""]);
  }
  return user;
}

describe("sounding login", () => {
  test("stores the key for the other commands, where only the user may read it", async () => {
    const { file, sounding } = await newUser();
    const login = await sounding(`login --url ${server.url}/v1/`, { input: `${server.key}\n` });
    assert.deepEqual([login.code, login.stderr], [0, ""]);
    assert.match(
      login.stdout,
      /^Stored the key "first key" of the organization "default" in the profile default \(~\/.config/,
    );
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(join(file, ".."))).mode & 0o777, 0o700);
    const listed = await sounding("chat --model sounding-trial Hello");
    assert.equal(listed.code, 0, listed.stderr);
    assert.ok(!JSON.stringify([login, listed]).includes(server.key), "the key is shown");
  });

  test("respects XDG_CONFIG_HOME", async () => {
    const { home, file, sounding } = await newUser();
    const env = { XDG_CONFIG_HOME: join(home, "elsewhere") };
    assert.equal((await sounding(`login --url ${server.url}`, { input: server.key, env })).code, 0);
    assert.ok(existsSync(join(home, "elsewhere/sounding/profiles.json")) && !existsSync(file));
  });

  test("stores nothing if the server refuses the key, or if there is none", async () => {
    const { home, sounding } = await newUser();
    const wrong = await sounding(`login --url ${server.url}`, { input: "sk-wrong\n" });
    assert.equal(wrong.code, 4);
    assert.match(wrong.stderr, /^sounding: .*key.* Run `sounding login` with a key of this server\.\n$/);
    assert.equal((await sounding(`login --url ${server.url}`)).code, 4);
    assert.equal((await sounding("login --url http://127.0.0.1:1", { input: server.key })).code, 3);
    assert.deepEqual(await readdir(home), []);
  });

  // Other systems have another program of this name.
  test("asks in a terminal without showing the key", { skip: onlyOnLinux }, async () => {
    const { home, file } = await newUser();
    const command = `"${process.execPath}" "${join(repository, "packages/cli/src/main.ts")}" login --url ${server.url}`;
    const terminal = spawn("/usr/bin/script", ["--quiet", "--return", "--command", command, "/dev/null"], {
      env: { ...childEnvironment, HOME: home },
    });
    let shown = "";
    for await (const bytes of terminal.stdout) {
      shown += String(bytes);
      // A mistyped character, corrected with backspace.
      if (shown.endsWith(`${server.url}: `)) terminal.stdin.write(`${server.key}x\u007f\r`);
    }
    assert.match(shown, /API key for .*\r\n.*Stored the key "first key"/s);
    assert.ok(!shown.includes(server.key.slice(0, 8)), "the key is shown");
    assert.ok((await readFile(file, "utf8")).includes(server.key));
  });
});

describe("sounding whoami", () => {
  test("shows organization, project, permissions, address and where the key comes from", async () => {
    const { sounding } = await loggedInUser();
    const { stdout } = await sounding("whoami");
    assert.match(stdout, new RegExp(`^server +${server.url} \\(the profile default\\)$`, "m"));
    assert.match(stdout, /^organization +default \(org_\w+\)$/m);
    assert.match(
      stdout,
      /^key +first key \(key_\w+\), from the profile default in ~\/\.config\/sounding\/profiles\.json$/m,
    );
    assert.match(
      stdout,
      /^permissions +inference, models_read, telemetry_write, telemetry_read, content_read, spend_read$/m,
    );
    assert.match(stdout, /^operator key +from the profile default$/m);
    const operator = JSON.parse(
      (await sounding("whoami --json", { env: { SOUNDING_API_KEY: server.operatorKey } })).stdout,
    ) as Record<string, unknown>;
    assert.deepEqual(
      [
        operator["operator"],
        operator["permissions"],
        operator["key_name"],
        operator["key_source"],
        operator["profile"],
      ],
      [true, ["models_read", "spend_read", "configuration_read", "admin"], "operator", "SOUNDING_API_KEY", "default"],
    );
    assert.ok(!stdout.includes(server.key.slice(0, 12)), "the key is shown");
  });

  test("says what to do without a key", async () => {
    const { code, stderr } = await (await newUser()).sounding("whoami");
    assert.equal(code, 4);
    assert.match(stderr, /no API key for http:\/\/127\.0\.0\.1:4141: run `sounding login`, set SOUNDING_API_KEY/);
  });
});

describe("a command finds its server and key", () => {
  const sources = async (
    { sounding }: Awaited<ReturnType<typeof newUser>>,
    words = "",
    env: Record<string, string> = {},
  ): Promise<unknown> => {
    const { stdout, stderr } = await sounding(`whoami --json${words}`, { env });
    if (stdout === "") return stderr;
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    return [answer["base_url_source"], answer["key_source"]];
  };

  test("in options, then in the environment, then in the profile", async () => {
    const user = await loggedInUser();
    await user.sounding(`login --url ${server.url} --profile work`, { input: server.key });
    const keyFile = join(user.home, "key.txt");
    await writeFile(keyFile, `${server.operatorKey}\n`);
    const env = { SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: server.key };
    const options = ` --url ${server.url} --key-file ${keyFile}`;
    assert.deepEqual(await sources(user), ["the profile default", "the profile default"]);
    assert.deepEqual(await sources(user, "", env), ["SOUNDING_BASE_URL", "SOUNDING_API_KEY"]);
    assert.deepEqual(await sources(user, options, env), ["--url", keyFile]);
    assert.deepEqual(await sources(user, " --profile work", env), ["the profile work", "the profile work"]);
    assert.deepEqual(await sources(user, "", { SOUNDING_PROFILE: "work" }), ["the profile work", "the profile work"]);
    const one = { SOUNDING_PROFILE: "work", SOUNDING_API_KEY: server.key };
    assert.deepEqual(await sources(user, "", one), ["the profile work", "SOUNDING_API_KEY"]);
    assert.match(String(await sources(user, " --profile home")), /"home\\" does not exist .*profiles: default, work/);
  });

  test("and never sends a profile's key to another server", async () => {
    const user = await loggedInUser();
    const elsewhere = "http://127.0.0.1:1";
    assert.match(String(await sources(user, ` --url ${elsewhere}`)), /no API key for http:\/\/127\.0\.0\.1:1:/);
    assert.match(String(await sources(user, "", { SOUNDING_BASE_URL: elsewhere })), /no API key for/);
    const { port } = new URL(server.url);
    assert.deepEqual(await sources(user, ` --url http://localhost:${port}/v1`), ["--url", "the profile default"]);
  });
});

describe("sounding logout", () => {
  test("removes one profile and its keys", async () => {
    const { file, sounding } = await loggedInUser();
    await sounding(`login --url ${server.url} --profile work`, { input: server.key });
    assert.match((await sounding("logout --profile work")).stdout, /^Removed the profile work from ~\//);
    assert.equal((await sounding("whoami")).code, 0);
    assert.equal((await sounding("logout")).code, 0);
    assert.ok(!(await readFile(file, "utf8")).includes("sk-"));
    assert.equal((await sounding("whoami")).code, 4);
    assert.equal((await sounding("logout")).code, 5);
  });
});

describe("administration commands", () => {
  test("use the server of the environment or the profile, not a local database", async () => {
    const { home, sounding } = await loggedInUser();
    const dataDirectory = join(home, "data");
    const local = { SOUNDING_DATA_DIR: dataDirectory };
    const created = await sounding("key create laptop", { env: local });
    assert.match(created.stdout, /^sk-[\w-]{43}\n$/, created.stderr);
    assert.equal(
      (await server.call("/v1/models", undefined, { authorization: `Bearer ${created.stdout.trim()}` })).status,
      200,
    );
    const env = { ...local, SOUNDING_BASE_URL: server.url, SOUNDING_ADMIN_KEY: server.operatorKey };
    const remote = await (await newUser()).sounding("key create desktop --json", { env });
    assert.match(remote.stdout, /"secret":"sk-/, remote.stderr);
    assert.ok(!existsSync(dataDirectory));
  });

  test("open the local database when asked, and create nothing by reading", async () => {
    const { home, sounding } = await loggedInUser();
    const env = { SOUNDING_DATA_DIR: join(home, "data") };
    const read = await sounding("org list --local", { env });
    assert.equal(read.code, 5);
    assert.match(read.stderr, /control\.sqlite does not exist yet, so no organization exists yet; start the server/);
    assert.ok(!existsSync(join(home, "data")));
    assert.equal((await sounding("org create here --local", { env })).code, 0);
    assert.match((await sounding("org list --local", { env })).stdout, /here/);
    assert.doesNotMatch((await sounding("org list", { env })).stdout, /here/);
  });

  test("and other commands that only read create no data directory", async () => {
    const { home, sounding } = await newUser();
    for (const words of ["models list", "config check", "config show", "doctor", "key list", "project list --local"]) {
      await sounding(words);
      assert.deepEqual(await readdir(home), [], words);
    }
  });

  test("say which key they need", async () => {
    const { sounding } = await newUser();
    const env = { SOUNDING_BASE_URL: server.url };
    const none = await sounding("org list", { env });
    assert.equal(none.code, 4);
    assert.match(none.stderr, /no key to administer .*\(SOUNDING_BASE_URL\): .*SOUNDING_ADMIN_KEY, or use --local/);
    const plain = await sounding("org list", { env: { ...env, SOUNDING_API_KEY: server.key } });
    assert.equal(plain.code, 4);
    assert.match(
      plain.stderr,
      /does not have the permission "configuration_read".* Set a key with the permission admin in SOUNDING_ADMIN_KEY/,
    );
  });
});
