/**
 * Prints the slowest test files and checks of the last run of `npm test`: `node scripts/test-times.ts [COUNT]`.
 * `--write` records the times of files that take longer than two seconds in `test/runner/usual-times.json`, by which a
 * machine that has not run them yet orders them.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { readLastRun } from "../test/runner/last-run.ts";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { write: { type: "boolean" } } });
const count = Number(positionals[0] ?? 40);
if (!Number.isInteger(count) || count < 1) {
  console.error("Usage: node scripts/test-times.ts [COUNT] [--write]");
  process.exit(2);
}

const { startedAt, wallSeconds, tasks } = await readLastRun();
const slowest = [...tasks].sort((one, other) => other.wallSeconds - one.wallSeconds);
console.log(`The run of ${startedAt} took ${Math.round(wallSeconds)} s. Seconds of its slowest files and checks:\n`);
console.log(" total    CPU  waiting");
for (const { name, wallSeconds: wall, cpuSeconds: cpu } of slowest.slice(0, count)) {
  // What is not computed is waited for: for processors that others use, for disks, or for time to pass.
  const waiting = cpu === null ? undefined : Math.max(0, wall - cpu);
  console.log(
    [wall, cpu ?? undefined, waiting].map((each) => (each?.toFixed(1) ?? "?").padStart(6)).join(" "),
    ` ${name}`,
  );
}
const sum = (of: (task: (typeof tasks)[number]) => number): string =>
  tasks.reduce((total, task) => total + of(task), 0).toFixed(0);
console.log(
  `\nAll ${tasks.length}: ${sum(({ wallSeconds: wall }) => wall)} s, CPU ${sum(({ cpuSeconds: cpu }) => cpu ?? 0)} s`,
);

if (values.write === true) {
  const usual = slowest
    .filter(({ wallSeconds: wall }) => wall >= 2)
    .map(
      ({ name, wallSeconds: wall, cpuSeconds: cpu }) => [name, [Math.round(wall), Math.round(cpu ?? wall)]] as const,
    );
  const lines = usual.map(([name, times]) => `  ${JSON.stringify(name)}: [${times.join(", ")}]`);
  await writeFile(new URL("../test/runner/usual-times.json", import.meta.url), `{\n${lines.join(",\n")}\n}\n`);
}
