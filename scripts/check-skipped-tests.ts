/**
 * Fails if a test run skipped a test for a reason that is not allowed: `node scripts/check-skipped-tests.ts RESULTS.tap
 * ALLOWED.txt`. Each line of ALLOWED.txt is the start of a skip reason, ` | `, and why the skip is acceptable.
 */
import { readFileSync } from "node:fs";

const [resultsPath, allowedPath] = process.argv.slice(2);
if (resultsPath === undefined || allowedPath === undefined) {
  console.error("Usage: node scripts/check-skipped-tests.ts RESULTS.tap ALLOWED.txt");
  process.exit(2);
}

const allowed = readFileSync(allowedPath, "utf8")
  .split("\n")
  .filter((line) => line.includes(" | "))
  .map((line) => line.split(" | ", 1)[0]!);

const skipped = [...readFileSync(resultsPath, "utf8").matchAll(/^\s*ok \d+ - (?<name>.*?) # SKIP ?(?<reason>.*)$/gm)];
const unexpected = skipped.filter(({ groups }) => !allowed.some((reason) => groups!["reason"]!.startsWith(reason)));

for (const { groups } of unexpected) {
  console.error(`Skipped without permission: ${groups!["name"]} (${groups!["reason"] || "no reason given"})`);
}
if (unexpected.length > 0) {
  console.error(`Install what these tests need in .ci/run, or allow the skip in ${allowedPath} with a reason.`);
  process.exit(1);
}
console.log(`# ${skipped.length} tests skipped, all of them for allowed reasons`);
