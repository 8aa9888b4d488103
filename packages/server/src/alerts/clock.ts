/** The clocks of the alerts: tests replace them. */

export interface Clock {
  /** UNIX milliseconds; an administrator or NTP may set it. */
  now(): number;
  /** Milliseconds since some moment; nobody can set it. */
  monotonic(): number;
  /** Calls back after this time; returns the function that cancels it. */
  timer(callback: () => void, ms: number): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(callback, ms) {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};
