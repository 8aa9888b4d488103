/** A fleet whose links are cut in turn: nothing acknowledged is lost, nothing hangs, healthy parts keep serving. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { noPostgres } from "../../packages/server/test/tenancy/postgres-server.ts";
import { noNetwork } from "./network.ts";

test("a fleet survives the loss of each link", { skip: noPostgres ?? noNetwork() ?? false }, async (context) => {
  const script = fileURLToPath(new URL("partitions-in-namespace.ts", import.meta.url));
  const child = spawn(
    "unshare",
    ["--net", "--kill-child", "--fork", "--pid", "--mount-proc", process.execPath, script],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let errors = "";
  child.stdout.on("data", (bytes: Buffer) => context.diagnostic(bytes.toString().replaceAll("# ", "").trim()));
  child.stderr.on("data", (bytes: Buffer) => (errors += bytes.toString()));
  const [code] = (await once(child, "exit")) as [number | null];
  assert.equal(code, 0, errors);
});
