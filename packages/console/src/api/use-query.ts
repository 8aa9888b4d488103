/** A request of a component: its result as signals, repeated when what it reads changes, cancelled when the view is left. */
import { effect, signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

export interface Query<Value> {
  /** The latest result; it stays while the next one is loading. */
  readonly data: ReadonlySignal<Value | undefined>;
  readonly error: ReadonlySignal<Error | undefined>;
  readonly loading: ReadonlySignal<boolean>;
  /** Sends the request again. */
  reload(): void;
  /** Stops the running request; the server stops too. */
  cancel(): void;
}

/**
 * @param start sends the request and passes the signal on; signals that it reads before its first `await` send it again when
 * they change. Undefined: there is nothing to ask now
 * @param inputs values of the component that `start` uses; a change sends the request again
 */
export function useQuery<Value>(
  start: (signal: AbortSignal) => Promise<Value> | undefined,
  inputs: readonly unknown[] = [],
): Query<Value> {
  const query = useMemo(() => {
    const data = signal<Value | undefined>(undefined);
    const error = signal<Error | undefined>(undefined);
    const loading = signal(true);
    const attempt = signal(0);
    return { data, error, loading, attempt, controller: new AbortController() };
  }, []);
  useEffect(() => {
    return effect(() => {
      void query.attempt.value;
      const controller = new AbortController();
      query.controller = controller;
      const running = start(controller.signal);
      query.loading.value = running !== undefined;
      if (running === undefined) {
        query.data.value = undefined;
        query.error.value = undefined;
      }
      void running?.then(
        (value) => settle(controller, () => void ((query.data.value = value), (query.error.value = undefined))),
        (thrown: unknown) => settle(controller, () => void (query.error.value = thrown as Error)),
      );
      return () => controller.abort();
    });
    // oxlint-disable-next-line react/exhaustive-deps
  }, inputs);
  const settle = (controller: AbortController, apply: () => void): void => {
    if (query.controller !== controller) return;
    query.loading.value = false;
    if (!controller.signal.aborted) apply();
  };
  return useMemo(
    () => ({
      data: query.data,
      error: query.error,
      loading: query.loading,
      reload: () => void (query.attempt.value += 1),
      cancel: () => {
        query.controller.abort();
        query.loading.value = false;
      },
    }),
    [query],
  );
}
