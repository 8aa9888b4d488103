/** Ends a call that takes too long. Its limit may grow while it runs, as more of the recording is read. */
import { AppError, requestTimedOut } from "../errors.ts";

/** Longest delay of a Node timer. */
const longestTimerMs = 2 ** 31 - 1;

export class TimeLimit {
  readonly #limitMs: () => number;
  readonly #onElapsed: (limitMs: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #elapsedMs = 0;

  /** @param limitMs the limit as it is known now; asked again before the call is ended */
  constructor(limitMs: () => number, onElapsed: (limitMs: number) => void) {
    this.#limitMs = limitMs;
    this.#onElapsed = onElapsed;
  }

  start(): void {
    const limitMs = this.#limitMs();
    const leftMs = Math.min(limitMs - this.#elapsedMs, longestTimerMs);
    if (leftMs <= 0) return this.#onElapsed(limitMs);
    this.#timer = setTimeout(() => {
      this.#elapsedMs += leftMs;
      this.start();
    }, leftMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** How long a call may take that sends no `timeout`: `transcription` of the configuration. */
export interface DefaultTimeout {
  readonly timeout_seconds: number;
  /** Added for each second of the recording. */
  readonly timeout_per_audio_second: number;
}

interface CallTimeLimit {
  /** The request's own; undefined: the default. */
  readonly timeoutMs: number | undefined;
  readonly defaultTimeout: DefaultTimeout;
  /** The length of the recording, as far as it is known now. */
  audioSeconds(): number;
  onElapsed(error: AppError): void;
}

export function callTimeLimit({ timeoutMs, defaultTimeout, audioSeconds, onElapsed }: CallTimeLimit): TimeLimit {
  const { timeout_seconds: baseSeconds, timeout_per_audio_second: perAudioSecond } = defaultTimeout;
  return new TimeLimit(
    () => timeoutMs ?? (baseSeconds + perAudioSecond * audioSeconds()) * 1_000,
    (limitMs) =>
      onElapsed(timeoutMs === undefined ? defaultTimedOut(limitMs, audioSeconds()) : requestTimedOut(limitMs)),
  );
}

function defaultTimedOut(limitMs: number, audioSeconds: number): AppError {
  const seconds = (value: number): string => String(Math.round(value * 10) / 10);
  return new AppError(
    "timeout",
    `The transcription took longer than ${seconds(limitMs / 1_000)} s, the default for a recording of ${seconds(audioSeconds)} s. Send \`timeout\` in seconds, or increase \`transcription.timeout_seconds\` or \`transcription.timeout_per_audio_second\` in the server's configuration.`,
    { param: "timeout", headers: { "x-should-retry": "false" } },
  );
}
