/** A fleet whose links are cut in turn: nothing acknowledged is lost, nothing hangs, healthy parts keep serving. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { needs, onlyAsRoot } from "../support/needs.ts";

/** Runs a script of this folder in a new network namespace. */
async function runInNamespace(context: TestContext, name: string, ...args: readonly string[]): Promise<void> {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(
    "unshare",
    ["--net", "--kill-child", "--fork", "--pid", "--mount-proc", process.execPath, script, ...args],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let errors = "";
  child.stdout.on("data", (bytes: Buffer) => context.diagnostic(bytes.toString().replaceAll("# ", "").trim()));
  child.stderr.on("data", (bytes: Buffer) => (errors += bytes.toString()));
  const [code] = (await once(child, "exit")) as [number | null];
  assert.equal(code, 0, errors);
}

const skip = onlyAsRoot() || needs("postgresql", "iproute2");

test("a fleet survives the loss of each link", { skip }, (context) =>
  runInNamespace(context, "partitions-in-namespace.ts"),
);

describe("a limit", { concurrency: true }, () => {
  for (const backend of ["valkey", "postgres"]) {
    test(
      `that ${backend} counts holds as configured while a server has lost it, and for all servers again afterwards`,
      { skip: skip || needs("valkey") },
      (context) => runInNamespace(context, "limit-partitions-in-namespace.ts", backend),
    );
  }
});
