/** A failed start reports the reason in one line, and creates nothing that would be lost. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { runSounding } from "../packages/cli/test/run-sounding.ts";
import { startServer } from "./support/running-server.ts";
import { repository, serveProcess } from "./support/served-process.ts";
import { childEnvironment } from "./support/child-environment.ts";
import { command } from "./support/command.ts";

interface Outcome {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

async function sounding(...words: string[]): Promise<Outcome> {
  const env = { ...childEnvironment, SOUNDING_TELEMETRY_ENABLED: "false" };
  return new Promise((resolve) => {
    execFile(process.execPath, [command, ...words], { env, cwd: tmpdir() }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

describe("a start that fails", () => {
  test("because the port is in use says so, and creates nothing", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-start-"));
    const taken = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    try {
      const data = join(folder, "data");
      const { code, stdout, stderr } = await sounding("serve", "--port", String(port), "--data-dir", data);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.equal(
        stderr,
        `sounding: The server cannot listen on 127.0.0.1, port ${port}: another program uses it. Stop it, or set another port with --port, server.port or SOUNDING_PORT.\n`,
      );
      assert.deepEqual(await readdir(folder), []);
    } finally {
      taken.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("because another Sounding server has the port says so", async () => {
    await using first = await startServer();
    const folder = await mkdtemp(join(tmpdir(), "sounding-start-"));
    try {
      const { code, stderr } = await sounding("serve", "--port", new URL(first.url).port, "--data-dir", folder);
      assert.equal(code, 1);
      assert.match(stderr, /^sounding: .* another Sounding server answers there\. Stop it, or set another port .*\n$/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("because another server uses the data directory names its process and address, and a killed one does not block", async () => {
    await using first = await serveProcess({ SOUNDING_TELEMETRY_ENABLED: "false" });
    const words = ["serve", "--port", "0", "--data-dir", first.dataDirectory];
    const { code, stdout, stderr } = await sounding(...words);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.equal(
      stderr,
      `sounding: The data directory ${first.dataDirectory} is in use by another Sounding server (process ${first.child.pid}, ${first.url}). Stop that server, or set another directory with --data-dir, storage.data_dir or SOUNDING_DATA_DIR.\n`,
    );
    await first.end("SIGKILL");
    assert.ok((await readdir(first.dataDirectory)).includes("server.json"), "the killed server left its file");
    await using second = await serveProcess({ SOUNDING_TELEMETRY_ENABLED: "false" }, { data: first.dataDirectory });
    assert.equal(await second.end(), 0);
    assert.ok(!(await readdir(first.dataDirectory)).includes("server.json"));
  });

  test("because of Ctrl-C ends calmly, and still shows the keys that it created", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-start-"));
    const script = join(repository, "packages/cli/src/main.ts");
    const words = [script, "serve", "--port", "0", "--data-dir", join(folder, "data")];
    const env = { ...childEnvironment, SOUNDING_INSTALL: "false" };
    const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "pipe"] });
    try {
      const [exited, stdout, stderr] = [once(child, "exit"), text(child.stdout), text(child.stderr)];
      // The server has locked the directory and is starting.
      while (!existsSync(join(folder, "data", "control.sqlite"))) await new Promise((resolve) => setImmediate(resolve));
      child.kill("SIGINT");
      assert.deepEqual(await exited, [0, null]);
      for (const line of (await stderr).trim().split("\n")) assert.match(line, /^\{"level":"info"/);
      assert.equal(new Set((await stdout).match(/sk-[\w-]{43}/g)).size, 2, "the keys are shown");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("because a worker cannot start says why once, and leaves no process behind", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-start-"));
    try {
      const config = join(folder, "sounding.yaml");
      // Which engines there are is known to the workers only.
      await writeFile(
        config,
        "server: { workers: 2 }\ndiscovery: { enabled: false }\nengines: { silent: { type: flite } }\nmodels: { mute: { targets: [{ engine: silent, model: nobody }] } }\n",
      );
      const { code, stderr } = await sounding(
        "serve",
        "--port",
        "0",
        "--config",
        config,
        "--data-dir",
        join(folder, "data"),
      );
      assert.notEqual(code, 0, stderr);
      assert.equal(stderr.match(/has no model "nobody"/g)?.length, 1, stderr);
      // The lock is free, so the primary has ended; it waits for its workers.
      await using second = await serveProcess({ SOUNDING_TELEMETRY_ENABLED: "false" }, { data: join(folder, "data") });
      assert.equal(await second.end(), 0);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("because the number of workers is not allowed says what is", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-start-"));
    try {
      const config = join(folder, "sounding.yaml");
      for (const value of ["65", "many"]) {
        await writeFile(config, `server: { workers: ${value} }\n`);
        const { code, stdout, stderr } = await runSounding(["config", "check", "--config", config]);
        assert.notEqual(code, 0);
        assert.match(`${stdout}${stderr}`, /server\.workers is .*; it must be an integer from 1 to 64 or "auto"\./);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("because it cannot create its data directory names the setting", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-start-"));
    try {
      const file = join(folder, "file");
      await writeFile(file, "");
      const { code, stderr } = await sounding("serve", "--port", "0", "--data-dir", file);
      assert.equal(code, 1);
      assert.match(stderr, /^sounding: The data directory .*file \(storage\.data_dir\) cannot be created: /);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
