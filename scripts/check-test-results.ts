/**
 * Judges the last run of `npm test` for continuous integration: `node scripts/check-test-results.ts ALLOWED.txt`.
 * Runs the files of failed tests once more: tests that pass by themselves are reported as unstable, and the run passes.
 * Fails if a test was skipped for a reason that is not allowed. Each line of ALLOWED.txt is the start of a skip reason,
 * ` | `, and why the skip is acceptable.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readLastRun } from "../test/runner/last-run.ts";

/** More failures than this have a cause in common, which a second run would only hide. */
const mostRepeatedFiles = 3;

const [allowedPath] = process.argv.slice(2);
if (allowedPath === undefined) {
  console.error("Usage: node scripts/check-test-results.ts ALLOWED.txt");
  process.exit(2);
}

const { tasks } = await readLastRun();
const allowed = readFileSync(allowedPath, "utf8")
  .split("\n")
  .filter((line) => line.includes(" | "))
  .map((line) => line.split(" | ", 1)[0]!);
const skips = tasks.flatMap((task) => task.skips);
const unexpected = skips.filter(({ reason }) => !allowed.some((start) => reason.startsWith(start)));
for (const { title, reason } of unexpected) console.error(`Skipped without permission: ${title} (${reason})`);
if (unexpected.length > 0)
  console.error(`Install what these tests need, or allow the skip in ${allowedPath} with a reason.`);

const failed = tasks.filter(({ failures }) => failures.length > 0);
const isUnstable = failed.length > 0 && passWhenRepeated();
for (const { failures } of failed) {
  for (const { title, location } of failures)
    console.error(`${isUnstable ? "Unstable" : "Failed"}: ${title} (${location})`);
}
console.log(
  `${failed.length} files failed${isUnstable ? " once and then passed: they are unstable, mend them" : ""}; ` +
    `${skips.length} tests were skipped, ${unexpected.length} without permission.`,
);
process.exit((failed.length === 0 || isUnstable) && unexpected.length === 0 ? 0 : 1);

function passWhenRepeated(): boolean {
  if (failed.length > mostRepeatedFiles || failed.some(({ kind }) => kind === "check")) return false;
  const files = failed.map(({ name }) => name);
  console.log(`Repeating ${files.join(" ")}`);
  const runner = fileURLToPath(new URL("../test/runner/main.ts", import.meta.url));
  return spawnSync(process.execPath, [runner, "--jobs", "1", ...files], { stdio: "inherit" }).status === 0;
}
