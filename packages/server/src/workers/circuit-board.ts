/** Remembers which circuits are open, for workers that start. */
import type { CircuitChange } from "../routing/circuit.ts";
import { circuitKey, type CircuitTarget } from "../routing/circuit-exchange.ts";
import type { OpenCircuit } from "./protocol.ts";

export class CircuitBoard {
  readonly #open = new Map<string, { readonly target: CircuitTarget; readonly sinceMs: number }>();

  report(target: CircuitTarget, change: CircuitChange): void {
    const key = circuitKey(target);
    if (change === "open") this.#open.set(key, { target, sinceMs: performance.now() });
    else this.#open.delete(key);
  }

  /** @param openMs after this time, a circuit admits a probe anyway */
  open(openMs: number): OpenCircuit[] {
    const nowMs = performance.now();
    for (const [key, { sinceMs }] of this.#open) if (nowMs - sinceMs >= openMs) this.#open.delete(key);
    return [...this.#open.values()].map(({ target, sinceMs }) => ({ target, forMs: nowMs - sinceMs }));
  }
}
