/**
 * Reporter of `node:test` in a process that runs test files: writes one JSON line for each test and each file that ended. It
 * also ends a process that stays open after its last test, which would otherwise last until a time limit.
 */
import { readFileSync, writeSync } from "node:fs";
import { inspect } from "node:util";
import type { TestEvent } from "node:test/reporters";

/** How a test ended, or a whole file. */
export type ReportedEvent = TestEnded | FileEnded;

export interface TestEnded {
  readonly type: "test";
  readonly file: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** Titles of the suites around the test, and its own. */
  readonly path: readonly string[];
  readonly location: string;
  /** Why it was skipped, or how it failed. */
  readonly detail: string;
}

export interface FileEnded {
  readonly type: "file";
  readonly file: string;
  readonly wallMs: number;
  /** Of the process and of all that it started and waited for. */
  readonly cpuMs: number;
}

/** A process that closes something takes seconds for it, also on a loaded machine. */
const mostMsToEnd = 60_000;
const ofFailedTests = "of failed tests";

// `node:test` wants the reporter as the default export.
// oxlint-disable-next-line import/no-default-export
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path: string[] = [];
  const cpuMs = new Map<string, number>();
  let countedMs = 0;
  const ending = new EndOfProcess();
  for await (const { type, data } of source) {
    if (type === "test:enqueue" || type === "test:complete") ending.observe(type, data.nesting);
    if (type === "test:complete" && data.nesting === 0) {
      cpuMs.set(data.name, usedCpuMs() - countedMs);
      countedMs += cpuMs.get(data.name)!;
    }
    if (type === "test:start") path.splice(data.nesting, path.length, data.name);
    if (type !== "test:pass" && type !== "test:fail") continue;
    path.splice(data.nesting, path.length, data.name);
    const [file = "", ...titles] = path;
    const ended = { ...outcomeOf(type, data), file, path: titles, location: `${data.file}:${data.line}` };
    // A file or a suite is as good as its tests, unless it is skipped or its own code fails.
    const isCounted = data.nesting > 0 && data.details.type !== "suite";
    if (ended.detail !== ofFailedTests && (isCounted || ended.outcome !== "passed"))
      yield line({ type: "test", ...ended });
    if (data.nesting === 0)
      yield line({ type: "file", file, wallMs: data.details.duration_ms, cpuMs: cpuMs.get(file) ?? 0 });
  }
}

function line(event: ReportedEvent): string {
  return `${JSON.stringify(event)}\n`;
}

type Finished = Extract<TestEvent, { type: "test:pass" | "test:fail" }>["data"];

function outcomeOf(type: string, data: Finished): Pick<TestEnded, "outcome" | "detail"> {
  if (data.skip !== undefined && data.skip !== false) {
    return { outcome: "skipped", detail: typeof data.skip === "string" ? data.skip : "no reason given" };
  }
  if (type === "test:pass") return { outcome: "passed", detail: "" };
  const { error } = data.details as { error?: Error & { failureType?: string } };
  if (error?.failureType === "subtestsFailed") return { outcome: "failed", detail: ofFailedTests };
  return { outcome: "failed", detail: describeError(error?.cause ?? error) };
}

/** Its message, its difference, where it was thrown in our files, and its causes. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  const lines = (error.stack ?? error.message).split("\n").filter((each) => !/^ +at .*\(?node:internal/.test(each));
  if (error.cause !== undefined) lines.push(`Cause: ${describeError(error.cause)}`);
  if (error instanceof AggregateError) lines.push(...error.errors.map((each) => `One of: ${describeError(each)}`));
  return lines.join("\n");
}

function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  const ownMs = (user + system) / 1000;
  if (process.platform !== "linux") return ownMs;
  // proc(5): fields 16 and 17 are the ticks, each of 10 ms, of children that were waited for. The name may have spaces.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]!.split(" ");
  return ownMs + (Number(fields[13]) + Number(fields[14])) * 10;
}

/** Ends the process if nothing happens for a while after the last test that was declared has ended. */
class EndOfProcess {
  #running = 0;
  #timer: NodeJS.Timeout | undefined;

  observe(type: "test:enqueue" | "test:complete", nesting: number): void {
    clearTimeout(this.#timer);
    if (nesting === 0) this.#running += type === "test:enqueue" ? 1 : -1;
    if (this.#running > 0) return;
    this.#timer = setTimeout(() => {
      writeSync(2, `Something that tests started is still open: ${process.getActiveResourcesInfo().join(", ")}\n`);
      process.exit(1);
    }, mostMsToEnd).unref();
  }
}
