/** Tracks the lifetime of one call: until its response is read, its caller's signal is aborted, or it times out. */
import { AbortError, ConnectionError, SoundingError, TimeoutError } from "./errors.ts";

export interface LifetimeLimits {
  readonly signal: AbortSignal | undefined;
  /** `whole`: from the start to the last byte. `silence`: between two pieces of data. */
  readonly limit: { readonly of: "whole" | "silence"; readonly ms: number };
}

export class CallLifetime {
  readonly #controller = new AbortController();
  readonly #limits: LifetimeLimits;
  readonly #onAbort = () => this.#stop(new AbortError(this.#limits.signal?.reason));
  #lastSignMs = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ending: SoundingError | "closed" | undefined;
  #atEnd: (() => void) | undefined;

  constructor(limits: LifetimeLimits) {
    this.#limits = limits;
    this.#arm(limits.limit.ms);
    if (limits.signal?.aborted === true) this.#onAbort();
    else limits.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Aborted if the call ends early; passed to `fetch`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the caller closed the stream, which is no error. */
  get closed(): boolean {
    return this.#ending === "closed";
  }

  /** Milliseconds until the timeout; Infinity if only silence is limited. */
  get remainingMs(): number {
    const { of, ms } = this.#limits.limit;
    return of === "whole" ? this.#lastSignMs + ms - performance.now() : Infinity;
  }

  /** Data arrived. */
  heard(): void {
    if (this.#limits.limit.of === "silence") this.#lastSignMs = performance.now();
  }

  /** Throws AbortError or TimeoutError once the call has ended with one of them. */
  check(): void {
    if (this.#ending instanceof SoundingError) throw this.#ending;
  }

  /** Starts `work` and waits for it, but no longer than the call lives. */
  async during<T>(work: () => T | PromiseLike<T>): Promise<T> {
    this.check();
    const { signal } = this;
    let stop = (): void => undefined;
    const ended = new Promise<never>((_resolve, reject) => {
      stop = () => reject(this.explain(signal.reason));
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([work(), ended]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Waits, but no longer than the call lives. */
  async sleep(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await this.during(
        () =>
          new Promise<void>((resolve) => {
            timer = setTimeout(resolve, ms);
          }),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** Converts a failure to an error of this client. */
  explain(error: unknown): SoundingError {
    if (this.#ending instanceof SoundingError) return this.#ending;
    if (error instanceof SoundingError) return error;
    const { code, message } = deepestCause(error);
    if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
      return new TimeoutError("The server sent nothing for longer than the timeout of this runtime's `fetch`.", error);
    }
    // OpenSSL's own text names a function and a line.
    if (code === "ERR_SSL_WRONG_VERSION_NUMBER") {
      return new ConnectionError(
        "The connection failed: the server's port does not speak TLS. Use http:// instead of https://.",
        error,
      );
    }
    return new ConnectionError(`The connection failed: ${message}`, error);
  }

  /** Runs `work` when the call ends, for any reason. */
  atEnd(work: () => void): void {
    this.#atEnd = work;
  }

  /** Ends the call when its response is complete. */
  complete(): void {
    this.#atEnd?.();
    clearTimeout(this.#timer);
    this.#limits.signal?.removeEventListener("abort", this.#onAbort);
  }

  /** Ends the call early on behalf of the caller; cancels the request. */
  close(): void {
    this.#stop("closed");
  }

  #stop(ending: SoundingError | "closed"): void {
    this.complete();
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#controller.abort(ending === "closed" ? undefined : ending);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#timeIsOver(), ms);
  }

  #timeIsOver(): void {
    const { of, ms } = this.#limits.limit;
    const restMs = this.#lastSignMs + ms - performance.now();
    if (restMs > 1) {
      this.#arm(restMs);
      return;
    }
    const what = of === "whole" ? "The call was not complete after" : "The server sent nothing for";
    this.#stop(new TimeoutError(`${what} ${ms / 1000} s; the request was cancelled.`));
  }
}

/** `fetch failed` is not informative; the causes contain the reason. */
function deepestCause(error: unknown): { code: string | undefined; message: string } {
  let current: unknown = error;
  while (current instanceof Error && current.cause instanceof Error) current = current.cause;
  const code = (current as { code?: unknown } | undefined)?.code;
  const message = current instanceof Error ? current.message : String(current);
  const codeText = typeof code === "string" ? code : undefined;
  // An AggregateError of several addresses has a code but no message.
  return { code: codeText, message: message === "" ? (codeText ?? "no reason given") : message };
}
