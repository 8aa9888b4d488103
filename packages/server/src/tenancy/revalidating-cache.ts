/**
 * A stale-while-revalidate cache with bounded age: hits are synchronous, values in use are reloaded in the background, and
 * while the source is unavailable, stale values are served for a limited time.
 */
import { AppError } from "../errors.ts";

export interface RevalidatingCacheOptions<Input, Value> {
  /** Loads a value; undefined is not cached. */
  readonly load: (input: Input) => Promise<Value | undefined>;
  /** Current time in milliseconds. */
  readonly now: () => number;
  readonly maximumEntries?: number;
  readonly loadTimeoutMs?: number;
}

export interface RevalidatingCache<Input, Value> {
  /**
   * The value of `id`, loaded from `input` on a miss.
   * @throws AppError overloaded if it can be neither loaded nor served stale
   */
  get(id: string, input: Input): Value | Promise<Value | undefined>;
  /** Removes everything; running loads start again. */
  clear(): void;
}

/** The maximum age of a served value while the source is available. */
const maximumAgeMs = 5000;
/** A hit on an older value reloads it in the background. */
const refreshAgeMs = 2500;
/** The maximum age of a served value while the source is unavailable. */
const staleAgeMs = 60_000;
/** Pause after a failed load before the next attempt. */
const retryAfterMs = 1000;
/** After a failed load, how long stale values are served without waiting for another attempt. */
const outageMs = 5000;
/** Maximum number of concurrent loads, so that a flood of unknown identifiers cannot queue without bound. */
const maximumLoads = 1024;

interface Entry<Value> {
  readonly value: Value;
  readonly loadedMs: number;
  /** Time of the last failed load. */
  failedMs: number;
}

export function createRevalidatingCache<Input, Value>(
  options: RevalidatingCacheOptions<Input, Value>,
): RevalidatingCache<Input, Value> {
  const { load, now, maximumEntries = 10_000, loadTimeoutMs = 2000 } = options;
  const entries = new Map<string, Entry<Value>>();
  const loads = new Map<string, Promise<Value | undefined>>();
  let generation = 0;

  function keep(id: string, value: Value | undefined): void {
    entries.delete(id);
    if (value === undefined) return;
    if (entries.size >= maximumEntries) entries.delete(entries.keys().next().value!);
    entries.set(id, { value, loadedMs: now(), failedMs: Number.NEGATIVE_INFINITY });
  }

  /** Shares one load between concurrent misses. */
  function loadOnce(id: string, input: Input): Promise<Value | undefined> {
    const running = loads.get(id);
    if (running !== undefined) return running;
    if (loads.size >= maximumLoads) return Promise.reject(overloaded(undefined));
    const started = generation;
    const loading = withTimeout(load(input), loadTimeoutMs).then(
      (value) => {
        if (loads.get(id) === loading) loads.delete(id);
        // `clear` was called meanwhile, so the value may be outdated.
        if (started !== generation) return loadOnce(id, input);
        keep(id, value);
        return value;
      },
      (error: unknown) => {
        if (loads.get(id) === loading) loads.delete(id);
        throw error;
      },
    );
    loads.set(id, loading);
    return loading;
  }

  async function loadOrServeStale(id: string, input: Input): Promise<Value | undefined> {
    try {
      return await loadOnce(id, input);
    } catch (error) {
      const old = entries.get(id);
      if (old === undefined || !isWithin(now() - old.loadedMs, staleAgeMs)) throw overloaded(error);
      old.failedMs = now();
      return old.value;
    }
  }

  return {
    get(id, input) {
      const entry = entries.get(id);
      if (entry === undefined) return loadOrServeStale(id, input);
      const time = now();
      const ageMs = time - entry.loadedMs;
      if (isWithin(ageMs, refreshAgeMs)) return entry.value;
      const sinceFailureMs = time - entry.failedMs;
      if (!isWithin(ageMs, isWithin(sinceFailureMs, outageMs) ? staleAgeMs : maximumAgeMs)) {
        return loadOrServeStale(id, input);
      }
      if (!loads.has(id) && !isWithin(sinceFailureMs, retryAfterMs)) loadOrServeStale(id, input).catch(() => {});
      return entry.value;
    },
    clear() {
      generation += 1;
      entries.clear();
      loads.clear();
    },
  };
}

/** False for a negative age: the clock was set back, so the age is unknown. */
function isWithin(ageMs: number, limitMs: number): boolean {
  return ageMs >= 0 && ageMs < limitMs;
}

function overloaded(cause: unknown): AppError {
  return new AppError("overloaded", "API keys cannot be checked at the moment. Retry later.", {
    cause,
    retryAfterMs,
  });
}

async function withTimeout<T>(load: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new AppError("overloaded", "The control database does not respond.")), timeoutMs);
  });
  try {
    return await Promise.race([load, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
