/**
 * Judges a test run by its output: `node scripts/check-test-results.ts RESULTS.tap ALLOWED.txt`. Repeats each failed
 * test at the end, where it is found among thousands, and fails if a test failed or was skipped for a reason that is
 * not allowed. Each line of ALLOWED.txt is the start of a skip reason, ` | `, and why the skip is acceptable.
 */
import { readFileSync } from "node:fs";

const [resultsPath, allowedPath] = process.argv.slice(2);
if (resultsPath === undefined || allowedPath === undefined) {
  console.error("Usage: node scripts/check-test-results.ts RESULTS.tap ALLOWED.txt");
  process.exit(2);
}

const results = readFileSync(resultsPath, "utf8");
const allowed = readFileSync(allowedPath, "utf8")
  .split("\n")
  .filter((line) => line.includes(" | "))
  .map((line) => line.split(" | ", 1)[0]!);

// A suite that failed only because of a test in it is left out: the test says more.
const failed = [...results.matchAll(/^(?<indent> *)not ok .*\n\k<indent> {2}---\n[^]*?\n\k<indent> {2}\.\.\.$/gm)]
  .map(([report]) => report)
  .filter((report) => !report.includes("failureType: 'subtestsFailed'"));
const skipped = [...results.matchAll(/^\s*ok \d+ - (?<name>.*?) # SKIP ?(?<reason>.*)$/gm)];
const unexpected = skipped.filter(({ groups }) => !allowed.some((reason) => groups!["reason"]!.startsWith(reason)));

for (const report of failed) {
  console.error(report);
}
for (const { groups } of unexpected) {
  console.error(`Skipped without permission: ${groups!["name"]} (${groups!["reason"] || "no reason given"})`);
}
if (unexpected.length > 0) {
  console.error(`Install what these tests need in .ci/run, or allow the skip in ${allowedPath} with a reason.`);
}
console.log(`# ${failed.length} tests failed; ${skipped.length} were skipped, ${unexpected.length} without permission`);
process.exit(failed.length + unexpected.length > 0 ? 1 : 0);
