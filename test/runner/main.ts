/** Runs checks and tests: `npm test`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { affectedTestFiles } from "./affected.ts";
import { buildCommand } from "./build-command.ts";
import { forgetLastRun, knownCosts, writeLastRun, type RecordedTask } from "./last-run.ts";
import { runTask } from "./run-task.ts";
import { schedule } from "./schedule.ts";
import { describeTask, summarize } from "./summary.ts";
import { allChecks, allTestFiles, batch, selectTestFiles, type Task } from "./tasks.ts";

const usage = `Usage: npm test [-- [OPTION]... [PATH]...]

Runs all checks and tests, or the test files whose path contains a PATH.

  --changed       runs the test files that what has changed since the last commit may affect
  --since COMMIT  the same, since this commit
  --no-checks     runs the tests only
  --jobs N        runs at most N files at the same time; by default, what processors and memory allow
  --list          prints what would run
  --help          prints this
`;

const { values, positionals } = parseCommandLine();
if (values.help === true) {
  process.stdout.write(usage);
  process.exit(0);
}
const since = values.since ?? (values.changed === true ? "HEAD" : undefined);
const isWhole = positionals.length === 0 && since === undefined;
const costs = await knownCosts();
const tasks = selectTasks();
if (values.list === true) {
  process.stdout.write(
    tasks
      .map(({ kind, names }) => (kind === "check" ? `npm run ${names.join(" ")}\n` : `${names.join("\n")}\n`))
      .join(""),
  );
  process.exit(0);
}

const directory = await mkdtemp(join(tmpdir(), "sounding-tests-"));
const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort(signal));

if (isWhole) await forgetLastRun();
// test/support/command.ts
process.env["SOUNDING_TEST_COMMAND"] ??= await buildCommand();
const startedAt = new Date();
const recorded: RecordedTask[] = [];
await schedule({ tasks, costs, mostTasks: jobs() }, async (task) => {
  if (ending.signal.aborted) return;
  for (const result of await runTask(task, directory, ending.signal)) {
    recorded.push(result);
    console.log(describeTask(result));
  }
});
await rm(directory, { recursive: true, force: true });
if (ending.signal.aborted) {
  console.error(`Ended by ${String(ending.signal.reason)}.`);
  process.exit(130);
}

const run = {
  startedAt: startedAt.toISOString(),
  wallSeconds: (Date.now() - startedAt.getTime()) / 1000,
  tasks: recorded,
};
if (isWhole) await writeLastRun(run);
console.log(summarize(run));
process.exitCode = recorded.some(({ failures }) => failures.length > 0) ? 1 : 0;

function parseCommandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        changed: { type: "boolean" },
        since: { type: "string" },
        "no-checks": { type: "boolean" },
        jobs: { type: "string" },
        list: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    return fail((error as Error).message);
  }
}

function selectTasks(): Task[] {
  try {
    const files =
      since !== undefined ? affectedTestFiles(since) : isWhole ? allTestFiles() : selectTestFiles(positionals);
    return [...(isWhole && values["no-checks"] !== true ? allChecks() : []), ...batch(files, costs)];
  } catch (error) {
    return fail((error as Error).message);
  }
}

function jobs(): number | undefined {
  if (values.jobs === undefined) return undefined;
  const count = Number(values.jobs);
  return Number.isInteger(count) && count > 0
    ? count
    : fail(`--jobs is ${JSON.stringify(values.jobs)}, not a number from 1.`);
}

function fail(message: string): never {
  console.error(`${message}\n\n${usage}`);
  process.exit(2);
}
