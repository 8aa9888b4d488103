/** Runs tasks at the same time: as many as keep the processors busy, the longest first. */
import { availableParallelism, totalmem } from "node:os";
import type { Task } from "./tasks.ts";

/** What a test file or a check took when it last ran. */
export interface TaskCost {
  readonly wallSeconds: number;
  /** How many processors it keeps busy. */
  readonly load: number;
}

/** Of one that has not run before. */
const unknownCost: TaskCost = { wallSeconds: 2, load: 1 };
/** An embedded store, a browser or a model takes half of it. */
const bytesPerTask = 1_500_000_000;

export interface Plan {
  readonly tasks: readonly Task[];
  readonly costs: ReadonlyMap<string, TaskCost>;
  /** How many tasks run at most at the same time; absent: what processors and memory allow. */
  readonly mostTasks: number | undefined;
}

/** Resolves when all tasks have been run. `run` must not reject. */
export async function schedule({ tasks, costs, mostTasks }: Plan, run: (task: Task) => Promise<void>): Promise<void> {
  const cores = availableParallelism();
  const most = mostTasks ?? Math.max(2, Math.min(cores * 3, Math.floor(totalmem() / bytesPerTask)));
  const costOf = ({ names }: Task): TaskCost => {
    const each = names.map((name) => costs.get(name) ?? unknownCost);
    const wallSeconds = each.reduce((sum, cost) => sum + cost.wallSeconds, 0);
    return { wallSeconds, load: each.reduce((sum, cost) => sum + cost.load * cost.wallSeconds, 0) / wallSeconds };
  };
  const waiting = [...tasks].sort((one, other) => costOf(other).wallSeconds - costOf(one).wallSeconds);
  const running = new Map<Task, Promise<void>>();
  while (waiting.length > 0 || running.size > 0) {
    const load = [...running.keys()].reduce((sum, task) => sum + costOf(task).load, 0);
    const fits = (task: Task): boolean => running.size === 0 || load + costOf(task).load <= cores * fullLoad;
    const next = running.size < most ? waiting.findIndex(fits) : -1;
    if (next === -1) {
      await Promise.race(running.values());
      continue;
    }
    const [task] = waiting.splice(next, 1) as [Task];
    const ended = run(task).then(() => void running.delete(task));
    running.set(task, ended);
  }
}

/** Tasks use less than their load at times: a little more than the processors keeps these busy. */
const fullLoad = 1.25;
