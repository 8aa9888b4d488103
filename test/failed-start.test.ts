/** A failed start reports the reason in one line, and keeps what it created. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { repository } from "./support/served-process.ts";

interface Outcome {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

async function sounding(...words: string[]): Promise<Outcome> {
  const script = join(repository, "packages/cli/bin/sounding.js");
  const env = { PATH: process.env["PATH"], SOUNDING_TELEMETRY_ENABLED: "false" };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...words], { env, cwd: tmpdir() }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

describe("a start that fails", () => {
  test("because the port is in use says so, and shows the new keys", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-start-"));
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    try {
      const words = ["serve", "--port", String(port), "--data-dir", folder];
      const first = await sounding(...words);
      assert.equal(first.code, 1);
      assert.match(first.stderr, new RegExp(`^sounding: .*port ${port}: another program uses this port`, "m"));
      assert.equal(new Set(first.stdout.match(/sk-[\w-]{43}/g)).size, 2, "an ordinary key and the operator's");
      const second = await sounding(...words);
      assert.equal(second.code, 1);
      assert.equal(second.stdout, "");
    } finally {
      taken.close();
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
