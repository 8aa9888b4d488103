/** What a person reads at the end of a run: what failed and why, what was skipped, and how to run that too. */
import { styleText } from "node:util";
import type { RecordedRun, RecordedTask } from "./last-run.ts";

type Style = Parameters<typeof styleText>[0];

const colored = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

/** One line, and below it what failed. */
export function describeTask(task: RecordedTask): string {
  const { name, kind, wallSeconds, passed, failures, skips } = task;
  const counts = [
    kind === "tests" && `${passed} passed`,
    failures.length > 0 && `${failures.length} failed`,
    skips.length > 0 && `${skips.length} skipped`,
  ].filter((each) => each !== false);
  const mark = failures.length > 0 ? colored("red", "failed") : colored("green", "ok    ");
  const line = `${mark} ${wallSeconds.toFixed(1).padStart(6)} s  ${kind === "check" ? `npm run ${name}` : name}`;
  return [counts.length === 0 ? line : `${line}: ${counts.join(", ")}`, ...failures.map(describeFailure)].join("\n");
}

/** Its file, and each failure by its first line: the whole was printed when the file ended. */
function recallFailures({ name, kind, failures }: RecordedTask): string {
  const titles = failures.map(
    ({ title, location, detail }) => `  ${title} (${location})\n    ${detail.split("\n", 1)[0]}`,
  );
  return [kind === "check" ? `npm run ${name}` : `npm test -- ${name}`, ...titles].join("\n");
}

function describeFailure({ title, location, detail }: RecordedTask["failures"][number]): string {
  const indented = detail.trimEnd().replaceAll(/^/gm, "    ");
  return `  ${colored("red", title)} (${location})\n${indented}`;
}

/** How many tests were skipped for each reason, the most frequent first. */
export function countSkips(run: RecordedRun): [reason: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { reason } of run.tasks.flatMap(({ skips }) => skips)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}

export function summarize(run: RecordedRun): string {
  const { tasks, wallSeconds } = run;
  const failed = tasks.filter(({ failures }) => failures.length > 0);
  const passed = tasks.reduce((sum, task) => sum + task.passed, 0);
  const failures = failed.reduce((sum, task) => sum + task.failures.length, 0);
  const skips = countSkips(run);
  const skipped = skips.reduce((sum, [, count]) => sum + count, 0);
  const lines = [
    ...(failed.length === 0 ? [] : ["", colored("bold", "Failed:"), ...failed.map(recallFailures)]),
    "",
    colored("bold", `${passed} passed, ${failures} failed, ${skipped} skipped in ${formatDuration(wallSeconds)}`),
    ...skips.map(([reason, count]) => `  ${count} skipped: ${reason}`),
  ];
  if (skips.some(([reason]) => reason.startsWith("needs ")))
    lines.push("To install what they need: npm run test:setup");
  return lines.join("\n");
}

function formatDuration(seconds: number): string {
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
