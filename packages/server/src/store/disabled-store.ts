/** The store of a server that stores no telemetry. */
import { AppError } from "../errors.ts";
import type { Store } from "./store.ts";

const state = {
  ready: false,
  disabled: true,
  reason: "Telemetry is switched off (telemetry.enabled is false).",
} as const;

/** Refuses rows and queries with an error that says so. */
export function createDisabledStore(): Store {
  const refuse = (): never => {
    throw new AppError("overloaded", "This server does not store telemetry (telemetry.enabled is false).");
  };
  return {
    append: async () => refuse(),
    isKnown: () => false,
    open: refuse,
    remove: async () => refuse(),
    get eraser() {
      return refuse();
    },
    state: () => state,
    check: async () => state,
    queuedBytes: () => 0,
    journalBytes: () => 0,
    waitingReads: () => 0,
    addresses: () => [],
    whenReady: async () => refuse(),
    async close() {},
  };
}
