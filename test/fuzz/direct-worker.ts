/** The thread in which direct targets run, so that an endless one can be terminated. */
import { parentPort, workerData } from "node:worker_threads";
import { LoopProbe } from "./loop-probe.ts";
import { Random } from "./random.ts";
import type { DirectTarget } from "./target.ts";
import { targets } from "./targets/all.ts";

/** Inputs of the sequence from `from`, until the time is up or `to` is reached; or a single given one. */
export type Task =
  | { readonly target: string; readonly from: number; readonly to: number; readonly untilMs: number }
  | { readonly target: string; readonly input: Uint8Array };

export type TaskReport =
  | { readonly kind: "ready" }
  | {
      readonly kind: "done";
      readonly inputs: number;
      readonly outcomes: readonly (readonly [outcome: string, count: number])[];
      readonly slowest: readonly [ms: number, index: number];
      readonly longestHold: readonly [ms: number, index: number];
    }
  | { readonly kind: "fault"; readonly index: number; readonly what: string };

export interface WorkerSetup {
  readonly seed: number;
  readonly holdMs: number;
  /** One 32-bit integer: the index of the input that runs. */
  readonly progress: SharedArrayBuffer;
}

const { seed, holdMs, progress } = workerData as WorkerSetup;
const running = new Int32Array(progress);
const port = parentPort!;
const probe = new LoopProbe();
const prepared = new Set<string>();

/** Whether the input blocks the thread every time: the first time may be due to the compiler or garbage collection. */
async function holdsAgain(target: DirectTarget, input: Uint8Array, boundMs: number): Promise<number> {
  let shortest = Infinity;
  for (let round = 0; round < 3; round += 1) {
    probe.take();
    await target.run(input);
    shortest = Math.min(shortest, probe.take());
    if (shortest <= boundMs) break;
  }
  return shortest;
}

async function run(task: Task): Promise<void> {
  const target = targets.find((each): each is DirectTarget => each.kind === "direct" && each.name === task.target)!;
  if (!prepared.has(target.name)) await target.prepare?.();
  prepared.add(target.name);
  const boundMs = target.holdMs ?? holdMs;
  const outcomes = new Map<string, number>();
  let slowest: [number, number] = [0, -1];
  let longestHold: [number, number] = [0, -1];
  const [from, to, untilMs] = "input" in task ? [0, 1, Infinity] : [task.from, task.to, task.untilMs];
  let index = from;
  for (; index < to && Date.now() < untilMs; index += 1) {
    Atomics.store(running, 0, index);
    const input = "input" in task ? task.input : target.generate(new Random(seed, target.name, index));
    probe.take();
    const startMs = performance.now();
    let outcome = "fault";
    try {
      outcome = await target.run(input);
      const hold = probe.take();
      if (hold > longestHold[0]) longestHold = [hold, index];
      if (hold > boundMs) {
        const again = await holdsAgain(target, input, boundMs);
        if (again > boundMs)
          port.postMessage({
            kind: "fault",
            index,
            what: `held the thread for ${again.toFixed(0)} ms of CPU`,
          } satisfies TaskReport);
      }
    } catch (error) {
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
      port.postMessage({ kind: "fault", index, what } satisfies TaskReport);
    }
    const tookMs = performance.now() - startMs;
    if (tookMs > slowest[0]) slowest = [tookMs, index];
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  port.postMessage({
    kind: "done",
    inputs: index - from,
    outcomes: [...outcomes],
    slowest,
    longestHold,
  } satisfies TaskReport);
}

port.on("message", (task: Task) => void run(task));
port.postMessage({ kind: "ready" } satisfies TaskReport);
