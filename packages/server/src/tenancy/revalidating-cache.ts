/**
 * A cache whose values are never old for long: a hit is synchronous, a value in use is read again in the background
 * before it is too old, and while the source cannot be read an old value serves for a bounded time.
 */
import { AppError } from "../errors.ts";

export interface RevalidatingCacheOptions<Input, Value> {
  /** Reads a value; undefined is not kept. */
  readonly load: (input: Input) => Promise<Value | undefined>;
  /** Milliseconds that move forward. */
  readonly now: () => number;
  readonly maximumEntries?: number;
  readonly loadTimeoutMs?: number;
}

export interface RevalidatingCache<Input, Value> {
  /**
   * The value of `id`, which `input` tells how to load.
   * @throws AppError overloaded when it can be neither loaded nor served from before
   */
  get(id: string, input: Input): Value | Promise<Value | undefined>;
  /** Forgets everything; what is being loaded just now is loaded again. */
  clear(): void;
}

/** No value is served at a greater age while its source answers. */
const maximumAgeMs = 5000;
/** A hit on an older value loads it again in the background. */
const refreshAgeMs = 2500;
/** The age at which a value stops serving even though its source does not answer. */
const staleAgeMs = 60_000;
/** After a failed load the next one is tried no sooner than this. */
const retryAfterMs = 1000;
/** After a failed load old values serve without waiting for another try, for this long. */
const outageMs = 5000;
/** More misses than these at one time are refused, so that a flood of unknown identifiers cannot queue without end. */
const maximumLoads = 1024;

interface Entry<Value> {
  readonly value: Value;
  readonly loadedMs: number;
  /** When a load last failed. */
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

  /** Loads once for all who ask at the same time. */
  function loadOnce(id: string, input: Input): Promise<Value | undefined> {
    const running = loads.get(id);
    if (running !== undefined) return running;
    if (loads.size >= maximumLoads) return Promise.reject(overloaded(undefined));
    const started = generation;
    const loading = withTimeout(load(input), loadTimeoutMs).then(
      (value) => {
        if (loads.get(id) === loading) loads.delete(id);
        // A change happened meanwhile, and the value may be from before it.
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

/** A negative age means that the clock was set back: then nothing is known about the age. */
function isWithin(ageMs: number, limitMs: number): boolean {
  return ageMs >= 0 && ageMs < limitMs;
}

function overloaded(cause: unknown): AppError {
  return new AppError("overloaded", "API keys cannot be checked just now. Try again in a moment.", {
    cause,
    retryAfterMs,
  });
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new AppError("overloaded", "The control database does not answer.")), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
