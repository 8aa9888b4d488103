/** What the last run found and took, kept for `scripts/test-times.ts`, for `.ci/run` and for the order of the next run. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { TaskCost } from "./schedule.ts";

/** A test file or a check of the last run. Passed tests are only counted. */
export interface RecordedTask {
  readonly name: string;
  readonly kind: "tests" | "check";
  readonly wallSeconds: number;
  /** Of the file and of all that it started and waited for; null if it did not end, and for checks. */
  readonly cpuSeconds: number | null;
  readonly passed: number;
  readonly failures: readonly { readonly title: string; readonly location: string; readonly detail: string }[];
  readonly skips: readonly { readonly title: string; readonly reason: string }[];
}

export interface RecordedRun {
  readonly startedAt: string;
  readonly wallSeconds: number;
  readonly tasks: readonly RecordedTask[];
}

const lastRun = fileURLToPath(new URL("../../node_modules/.cache/last-test-run.json", import.meta.url));
/** A task that waits most of the time on a busy machine would not do so alone. */
const leastLoad = 0.5;
const usualTimes = new URL("usual-times.json", import.meta.url);

export async function writeLastRun(run: RecordedRun): Promise<void> {
  await mkdir(dirname(lastRun), { recursive: true });
  await writeFile(`${lastRun}.${process.pid}`, JSON.stringify(run));
  await rename(`${lastRun}.${process.pid}`, lastRun);
}

/** So that a run that does not get to its end leaves nothing that looks like its results. */
export async function forgetLastRun(): Promise<void> {
  await rm(lastRun, { force: true });
}

/** @throws Error if nothing has run here yet */
export async function readLastRun(): Promise<RecordedRun> {
  try {
    return JSON.parse(await readFile(lastRun, "utf8")) as RecordedRun;
  } catch (cause) {
    throw new Error("No tests have been run here yet: run npm test.", { cause });
  }
}

/** What tasks took: in the last runs on this machine or, of those that have not run here, when this was last written down. */
export async function knownCosts(): Promise<Map<string, TaskCost>> {
  const usual = JSON.parse(await readFile(usualTimes, "utf8")) as Record<string, [wall: number, cpu: number]>;
  const costs = new Map(Object.entries(usual).map(([name, [wall, cpu]]) => [name, costOf(wall, cpu)]));
  const last = await readLastRun().catch(() => undefined);
  for (const { name, wallSeconds, cpuSeconds } of last?.tasks ?? [])
    costs.set(name, costOf(wallSeconds, cpuSeconds ?? wallSeconds));
  return costs;
}

function costOf(wallSeconds: number, cpuSeconds: number): TaskCost {
  return { wallSeconds, load: Math.max(leastLoad, cpuSeconds / Math.max(wallSeconds, 0.1)) };
}
