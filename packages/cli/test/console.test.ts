/** `sounding console` as a process, against a real server, with a program that stands for the browser. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, test } from "node:test";
import { startServer, type RunningServer } from "../../../test/support/running-server.ts";
import { runSounding } from "./run-sounding.ts";
import { beforeTests } from "../../../test/support/hooks.ts";

describe("sounding console", () => {
  let server: RunningServer;
  let folder: string;
  let env: Record<string, string>;
  beforeTests(async (stack) => {
    server = stack.use(await startServer());
    folder = await mkdtemp(join(tmpdir(), "sounding-console-"));
    stack.defer(() => rm(folder, { recursive: true }));
    env = {
      HOME: folder,
      PATH: [folder, process.env["PATH"]].join(delimiter),
      SOUNDING_BASE_URL: server.url,
      SOUNDING_API_KEY: server.key,
      SOUNDING_ADMIN_KEY: server.operatorKey,
    };
  });

  /** Replaces the program that opens browsers by one that notes the address. */
  async function installOpener({ exitCode = 0 } = {}): Promise<string> {
    const opened = join(folder, "opened");
    await rm(opened, { force: true });
    const opener = process.platform === "darwin" ? "open" : "xdg-open";
    await writeFile(join(folder, opener), `#!/bin/sh\nprintf %s "$1" > '${opened}'\nexit ${exitCode}\n`);
    await chmod(join(folder, opener), 0o755);
    return opened;
  }

  const linkIn = (text: string): string => {
    const link = text.split("\n").find((line) => line.startsWith(`  ${server.url}/console/sign-in#code=`));
    assert.ok(link !== undefined, text);
    return link.trim();
  };

  /** Signs in as the page does. */
  const redeem = (link: string): Promise<Response> =>
    fetch(`${server.url}/authentication/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ code: new URL(link).hash.replace("#code=", "") }),
    });

  test("prints a link where there is no display, which signs in once with both keys", async () => {
    const opened = await installOpener();
    const { code, stdout, stderr } = await runSounding(["console"], { env });
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^Open this link in a browser:\n/);
    assert.match(stdout, /It works once, within five minutes\.\n$/);
    const link = linkIn(stdout);
    const session = (await (await redeem(link)).json()) as Record<string, unknown>;
    assert.deepEqual([session["key_name"], session["operator_key_name"]], ["first key", "operator"]);
    assert.equal((await redeem(link)).status, 401);
    await assert.rejects(readFile(opened));
  });

  test("opens the browser with the link", async () => {
    const opened = await installOpener();
    const { stdout } = await runSounding(["console"], { env: { ...env, DISPLAY: ":0" } });
    assert.match(stdout, /^The console opens in your browser\./);
    assert.equal(await readFile(opened, "utf8"), linkIn(stdout));
    assert.equal((await redeem(linkIn(stdout))).status, 201);
  });

  test("prints the link over SSH, with --no-browser, and if no browser could be opened", async () => {
    const opened = await installOpener();
    const display = { ...env, DISPLAY: ":0" };
    const ssh = await runSounding(["console"], { env: { ...display, SSH_CONNECTION: "192.0.2.1 1 192.0.2.2 22" } });
    const { port } = new URL(server.url);
    assert.match(ssh.stdout, new RegExp(`ssh -L ${port}:127\\.0\\.0\\.1:${port} HOST\n$`));
    const without = await runSounding(["console", "--no-browser"], { env: display });
    await assert.rejects(readFile(opened));
    await installOpener({ exitCode: 3 });
    const failed = await runSounding(["console"], { env: display });
    for (const { code, stdout } of [ssh, without, failed]) {
      assert.equal(code, 0);
      assert.match(stdout, /^Open this link in a browser:/);
      assert.equal((await redeem(linkIn(stdout))).status, 201);
    }
  });

  test("prints the link as JSON, without opening a browser", async () => {
    const opened = await installOpener();
    const { stdout } = await runSounding(["console", "--json"], { env: { ...env, DISPLAY: ":0" } });
    const { url, expires_at, ...more } = JSON.parse(stdout) as { url: string; expires_at: number };
    assert.deepEqual(more, {});
    assert.ok(Math.abs(expires_at - Date.now() / 1000 - 300) < 60);
    assert.equal((await redeem(url)).status, 201);
    await assert.rejects(readFile(opened));
  });

  test("signs in with one key if there is only one, and without an operator key that the server refuses", async () => {
    const { SOUNDING_ADMIN_KEY: operatorKey, ...plain } = env;
    const { SOUNDING_API_KEY: _, ...operator } = env;
    const keysOf = async (environment: Record<string, string>) => {
      const { stdout, stderr } = await runSounding(["console"], { env: environment });
      const session = (await (await redeem(linkIn(stdout))).json()) as Record<string, unknown>;
      return { keys: [session["key_name"], session["operator_key_name"]], stderr };
    };
    assert.deepEqual(await keysOf(plain), { keys: ["first key", null], stderr: "" });
    assert.deepEqual(await keysOf(operator), { keys: ["operator", null], stderr: "" });
    const refused = await keysOf({ ...env, SOUNDING_ADMIN_KEY: `${operatorKey}x` });
    assert.deepEqual(refused.keys, ["first key", null]);
    assert.match(refused.stderr, /^sounding: signing in without the operator key: Incorrect API key/);
  });

  test("fails without a key, with a wrong key, and without a server", async () => {
    const { SOUNDING_ADMIN_KEY: _, ...plain } = env;
    const { SOUNDING_API_KEY: __, ...none } = plain;
    const cases = [
      [none, 4, /no API key for http.*sounding login/],
      [{ ...plain, SOUNDING_API_KEY: "sk-wrong" }, 4, /Incorrect API key/],
      [{ ...plain, SOUNDING_BASE_URL: "http://127.0.0.1:1" }, 3, /could not be reached/],
    ] as const;
    for (const [environment, expected, message] of cases) {
      const { code, stdout, stderr } = await runSounding(["console"], { env: environment });
      assert.deepEqual([code, stdout], [expected, ""]);
      assert.match(stderr, message);
    }
  });
});
