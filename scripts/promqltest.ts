/**
 * Runs Prometheus' test scripts, or ours, against the PromQL engine: `npm run promqltest -- FILE…`. Each failing case
 * is printed with its place and the difference; the last line counts, and the exit code is 1 when any case failed.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { runScript, type CaseResult } from "../packages/server/test/support/promqltest/run-script.ts";
import { skippedCases } from "../packages/server/test/support/promqltest/skipped-cases.ts";

const files = process.argv.slice(2);
if (files.length === 0) {
  process.stderr.write("usage: npm run promqltest -- FILE…\n");
  process.exit(2);
}

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const file of files) {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    process.stderr.write(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exit(2);
  }
  const results = await runScript(text, (_line, expression) => skippedCases[basename(file)]?.[expression]);
  for (const result of results) report(file, result);
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

function report(file: string, { expression, line, outcome, reason }: CaseResult): void {
  counts[outcome]++;
  if (outcome !== "passed") process.stdout.write(`${outcome} ${file}:${line}: ${expression}\n    ${reason}\n`);
}
