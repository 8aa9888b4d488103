/** Preloaded into the fuzzed server: reports holds of its event loop and its memory to the harness, and collects garbage when asked. */
import { isMainThread } from "node:worker_threads";
import { LoopProbe, type Hold } from "./loop-probe.ts";

/** How much memory the server holds, in bytes. */
export interface Memory {
  readonly rss: number;
  /** Heap and buffers that are in use. */
  readonly used: number;
}
export type ProbeReport =
  | { readonly kind: "hold"; readonly hold: Hold }
  | ({ readonly kind: "beat"; readonly longestHoldMs: number } & Memory)
  | ({ readonly kind: "collected" } & Memory);

/** What the last requests leave is freed some turns after their answers, buffers after a collection of what refers to them. */
const betweenCollectionsMs = 50;
/** Everything is freed when so many collections in a row free less than this. */
const quietCollections = 3;
const freedBytes = 500_000;
const mostCollections = 30;

const variable = "SOUNDING_FUZZ_HOLD_MS";
const boundMs = Number(process.env[variable]);

// Worker threads and child processes of the server inherit the preload, and must not report as if they were the server.
if (isMainThread && boundMs > 0 && process.send !== undefined) {
  Reflect.deleteProperty(process.env, variable);
  const send = (report: ProbeReport): void => void process.send?.(report);
  const memory = (): Memory => {
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, used: heapUsed + external };
  };
  const probe = new LoopProbe({ boundMs, onHold: (hold) => send({ kind: "hold", hold }) });
  setInterval(() => send({ kind: "beat", longestHoldMs: probe.take(), ...memory() }), 200).unref();
  /** Collects until nothing more is freed: memory that something still refers to stays, however often. */
  const collect = async (): Promise<void> => {
    let least = Infinity;
    for (let quiet = 0, count = 0; quiet < quietCollections && count < mostCollections; count += 1) {
      globalThis.gc?.();
      const { used } = memory();
      quiet = least - used > freedBytes ? 0 : quiet + 1;
      least = Math.min(least, used);
      await new Promise((resolve) => setTimeout(resolve, betweenCollectionsMs));
    }
    globalThis.gc?.();
    // Neither the start of the process nor these collections are holds.
    probe.take();
    send({ kind: "collected", ...memory() });
  };
  process.on("message", () => void collect());
  process.channel?.unref();
}
