/** The programs in the READMEs of the query languages' packages print what the pages say. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

for (const name of ["promql", "logql", "traceql"]) {
  test(`packages/${name}/README.md`, async () => {
    const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url));
    const page = readFileSync(`${folder}README.md`, "utf8");
    const { output, program } = /```ts\n(?<program>.*?)```\n\n```\n(?<output>.*?)```/s.exec(page)!.groups!;
    const args = ["--input-type=module-typescript", "--eval", program!];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
    assert.equal(stdout, output);
  });
}
