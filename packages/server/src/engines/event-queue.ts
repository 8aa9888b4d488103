/** Queues events between their producer and one reader; the producer's flow control bounds it. */

export interface EventQueue<Event> {
  push(event: Event): void;
  end(): void;
  /** What was pushed before is still given. */
  fail(error: unknown): void;
  /** The next event; undefined at the end. Rejects when the work failed. */
  next(): Promise<Event | undefined>;
}

/** Bounded by the sender, who gets no further than it is allowed to. */
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
