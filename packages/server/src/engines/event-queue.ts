/** Queues events between their producer and one reader; the producer's flow control bounds it. */

export interface EventQueue<Event> {
  push(event: Event): void;
  end(): void;
  /** Events pushed before are still returned. */
  fail(error: unknown): void;
  /** The next event; undefined at the end. Rejects after `fail`. */
  next(): Promise<Event | undefined>;
}

/** Bounded by the producer's flow control. */
export function createEventQueue<Event>(): EventQueue<Event> {
  const events: Event[] = [];
  let outcome: { readonly failure?: { readonly error: unknown } } | undefined;
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
      outcome ??= { failure: { error } };
      notify();
    },
    async next() {
      if (events.length === 0 && outcome === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
      const event = events.shift();
      if (event === undefined && outcome?.failure !== undefined) throw outcome.failure.error;
      return event;
    },
  };
}
