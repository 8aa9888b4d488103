/** Runs test files or one check as a process of its own, and says how they ended and what they took. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RecordedTask } from "./last-run.ts";
import type { FileEnded, ReportedEvent, TestEnded } from "./reporter.ts";
import type { Task } from "./tasks.ts";
import { testEnvironment } from "./test-environment.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const severalFiles = fileURLToPath(new URL("several-files.ts", import.meta.url));
const reporter = new URL("reporter.ts", import.meta.url).href;
const testTimeoutMs = 600_000;
const mostOutputCharacters = 100_000;

/**
 * @param directory where the process may leave files
 * @param signal ends the process and all that it has started
 */
export async function runTask({ kind, names }: Task, directory: string, signal: AbortSignal): Promise<RecordedTask[]> {
  const events = join(directory, `${names[0]!.replaceAll(/[^\w.-]/g, "_")}.ndjson`);
  const [program, args] =
    kind === "check" ? ["npm", ["run", "--silent", ...names]] : [process.execPath, testArguments(names, events)];
  const startMs = performance.now();
  const child = spawn(program, args, {
    cwd: root,
    env: testEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
    // In a group of its own, so that everything that it starts can be ended with it.
    detached: true,
  });
  const kill = (): void => killGroup(child);
  signal.addEventListener("abort", kill);
  let output = "";
  const keep = (text: string): void => void (output = (output + text).slice(-mostOutputCharacters));
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const [code, endedBy] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  signal.removeEventListener("abort", kill);
  // What it has left running would keep the machine busy.
  killGroup(child);
  const wallSeconds = (performance.now() - startMs) / 1000;
  const failure = code === 0 ? "" : `The process ended with ${endedBy ?? `code ${code}`}.\n${output}`;
  if (kind === "check")
    return [{ ...untested, kind, name: names[0]!, wallSeconds, failures: failureOf(names[0]!, failure) }];
  return recordFiles(names, await readEvents(events), failure);
}

const untested = { cpuSeconds: null, passed: 0, skips: [] };

function failureOf(name: string, detail: string): RecordedTask["failures"] {
  return detail === "" ? [] : [{ title: name, location: name, detail }];
}

/** @param failure how the process failed: the reason of files that did not end, and of no failed test */
function recordFiles(files: readonly string[], events: readonly ReportedEvent[], failure: string): RecordedTask[] {
  const ended = new Map(
    events.filter((event): event is FileEnded => event.type === "file").map((each) => [each.file, each]),
  );
  const tests = Object.groupBy(
    events.filter((event): event is TestEnded => event.type === "test"),
    ({ file }) => file,
  );
  const isExplained =
    ended.size === files.length && events.some((event) => event.type === "test" && event.outcome === "failed");
  return files.map((name, index) => {
    const titled = (tests[name] ?? []).map((each) => ({ ...each, title: each.path.join(" > ") || name }));
    const isUnexplained = !ended.has(name) || (!isExplained && index === files.length - 1);
    return {
      name,
      kind: "tests",
      wallSeconds: (ended.get(name)?.wallMs ?? 0) / 1000,
      cpuSeconds: ended.has(name) ? ended.get(name)!.cpuMs / 1000 : null,
      passed: titled.filter(({ outcome }) => outcome === "passed").length,
      failures: [
        ...titled
          .filter(({ outcome }) => outcome === "failed")
          .map(({ title, location, detail }) => ({ title, location, detail })),
        ...failureOf(name, isUnexplained ? failure : ""),
      ],
      skips: titled
        .filter(({ outcome }) => outcome === "skipped")
        .map(({ title, detail }) => ({ title, reason: detail })),
    };
  });
}

function testArguments(files: readonly string[], events: string): string[] {
  const report = [`--test-reporter=${reporter}`, `--test-reporter-destination=${events}`];
  return [...report, `--test-timeout=${testTimeoutMs}`, severalFiles, ...files];
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch {
    // It is empty.
  }
}

async function readEvents(path: string): Promise<ReportedEvent[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  // A process that was killed may have been writing its last line.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as ReportedEvent);
}
