/** The events of one call between the model's process and the reader of the answer. */
import type { GenerationEvent } from "./protocol.ts";

export interface EventQueue {
  push(event: GenerationEvent): void;
  end(): void;
  fail(error: Error): void;
  /** The next event; undefined at the end. Rejects when the call failed. */
  next(): Promise<GenerationEvent | undefined>;
}

/** Bounded by the sender: it sends no more than a window of events ahead of the reader. */
export function createEventQueue(): EventQueue {
  const events: GenerationEvent[] = [];
  let outcome: { readonly error?: Error } | undefined;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    push(event) {
      events.push(event);
      notify();
    },
    end() {
      outcome ??= {};
      notify();
    },
    fail(error) {
      outcome ??= { error };
      notify();
    },
    async next() {
      if (events.length === 0 && outcome === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
      const event = events.shift();
      if (event === undefined && outcome?.error !== undefined) throw outcome.error;
      return event;
    },
  };
}
