/** How the processes of one server tell each other which targets are out of service. */
import type { Capability } from "../api/models.ts";
import type { CircuitChange } from "./circuit.ts";

/** A capability of a model of an engine, by the names of all three. */
export interface CircuitTarget {
  readonly engine: string;
  readonly model: string;
  readonly capability: Capability;
}

/** The same text for the same target. */
export function circuitKey({ engine, model, capability }: CircuitTarget): string {
  return JSON.stringify([engine, model, capability]);
}

export interface CircuitExchange {
  /** Tells the other processes. */
  report(target: CircuitTarget, change: CircuitChange): void;
  /** Calls the listener with what other processes report. */
  listen(listener: (target: CircuitTarget, change: CircuitChange) => void): void;
  /** How long ago another process opened the circuit, if that was before this one started; undefined if it did not. */
  openForMs(target: CircuitTarget): number | undefined;
}
