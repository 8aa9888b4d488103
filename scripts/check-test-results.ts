/**
 * Judges a test run by its output: `node scripts/check-test-results.ts STATUS RESULTS.tap ALLOWED.txt`, where STATUS is
 * the exit status of the run. Repeats each failed test's report at the end, where it is found among thousands, and runs
 * the files of the failed tests once more: tests that pass by themselves are reported as unstable, and the run passes.
 * Fails if a test was skipped for a reason that is not allowed. Each line of ALLOWED.txt is the start of a skip reason,
 * ` | `, and why the skip is acceptable.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** More failures than this have a cause in common, which a second run would only hide. */
const mostRepeatedFiles = 3;

const [status, resultsPath, allowedPath] = process.argv.slice(2);
if (status === undefined || resultsPath === undefined || allowedPath === undefined) {
  console.error("Usage: node scripts/check-test-results.ts STATUS RESULTS.tap ALLOWED.txt");
  process.exit(2);
}

const results = readFileSync(resultsPath, "utf8");
const allowed = readFileSync(allowedPath, "utf8")
  .split("\n")
  .filter((line) => line.includes(" | "))
  .map((line) => line.split(" | ", 1)[0]!);

const failed = failedTests(results);
const skipped = [...results.matchAll(/^\s*ok \d+ - (?<name>.*?) # SKIP ?(?<reason>.*)$/gm)];
const unexpected = skipped.filter(({ groups }) => !allowed.some((reason) => groups!["reason"]!.startsWith(reason)));
const unstable = failed.length > 0 && passWhenRepeated(failed);

for (const report of failed) {
  console.error(report);
}
for (const { groups } of unexpected) {
  console.error(`Skipped without permission: ${groups!["name"]} (${groups!["reason"] || "no reason given"})`);
}
if (unexpected.length > 0) {
  console.error(`Install what these tests need in .ci/run, or allow the skip in ${allowedPath} with a reason.`);
}
console.log(
  `# ${failed.length} tests failed${unstable ? " once and then passed: they are unstable, mend them" : ""}; ` +
    `${skipped.length} were skipped, ${unexpected.length} without permission`,
);
// A run that fails without a failed test did not get as far as its tests, or did not get to their end.
const isGood = failed.length === 0 ? status === "0" : unstable && /^# tests \d+$/m.test(results);
process.exit(isGood && unexpected.length === 0 ? 0 : 1);

/** The reports of failed tests. A suite that failed only because of a test in it is left out: the test says more. */
function failedTests(tap: string): string[] {
  return [...tap.matchAll(/^(?<indent> *)not ok .*\n\k<indent> {2}---\n[^]*?\n\k<indent> {2}\.\.\.$/gm)]
    .map(([report]) => report)
    .filter((report) => !report.includes("failureType: 'subtestsFailed'"));
}

function passWhenRepeated(reports: readonly string[]): boolean {
  const files = new Set(reports.map((report) => /location: '(?<file>.*?):\d+:\d+'/.exec(report)?.groups?.["file"]));
  if (files.has(undefined) || files.size > mostRepeatedFiles) return false;
  console.log(`# repeating ${[...files].join(" ")}`);
  const options = ["--test", "--test-reporter=tap", "--test-timeout=600000", "--test-concurrency=1"];
  const run = spawnSync(process.execPath, [...options, ...[...files].map(String)], {
    encoding: "utf8",
    maxBuffer: 67_108_864,
  });
  console.log(run.stdout, run.stderr);
  return run.status === 0;
}
