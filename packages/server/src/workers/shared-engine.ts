/** Runs the embedded store's process for all workers, and tells them whether it runs. */
import type { Logger } from "../logger.ts";
import { startEmbeddedEngine, type EmbeddedPaths } from "../store/embedded/embedded-store.ts";
import type { EngineState } from "./protocol.ts";

export interface SharedEngineOptions {
  readonly paths: EmbeddedPaths;
  readonly memoryBytes: number;
  readonly logger: Logger;
  readonly onChange: (state: EngineState) => void;
}

export interface SharedEngine {
  /** Undefined until it has started or failed. */
  readonly state: EngineState | undefined;
  /** Ends a process that does not respond, unless another has replaced it. */
  restart(starts: number): void;
  close(): Promise<void>;
}

export function startSharedEngine({ onChange, ...options }: SharedEngineOptions): SharedEngine {
  let state: EngineState | undefined;
  let starts = 0;
  const change = (next: EngineState): void => {
    state = next;
    onChange(next);
  };
  const engine = startEmbeddedEngine({
    ...options,
    onStart: () => change({ starts: (starts += 1), down: undefined }),
    onEnd: (reason, isFinal) => change({ starts, down: { reason, isFinal } }),
  });
  return {
    get state() {
      return state;
    },
    restart(seen) {
      if (state?.down === undefined && seen === starts) engine.restart();
    },
    close: () => engine.close(),
  };
}
