/**
 * One receiver of alerts: a bounded queue of what it has not got, sent one request after the other in turns of the organizations,
 * again with growing pauses if one fails. Evaluations never wait for it.
 */
import { sleep } from "../../abort.ts";
import type { Logger } from "../../logger.ts";
import type { Notification, ReceiverProtocol } from "./notification.ts";
import { NotificationQueue } from "./notification-queue.ts";

export interface ReceiverOptions {
  readonly name: string;
  readonly protocol: ReceiverProtocol;
  readonly bearerToken: string | undefined;
  readonly timeoutMs: number;
  readonly retryForMs: number;
  readonly maxQueued: number;
  readonly logger: Logger;
  /** UNIX milliseconds. */
  readonly now: () => number;
  readonly onOutcome: (outcome: "sent" | "failed" | "dropped", alerts: number) => void;
}

const firstPauseMs = 1000;
const longestPauseMs = 60_000;

type Outcome = "sent" | "failed" | "again";

export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #queue = new NotificationQueue();
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  get queued(): number {
    return this.#queue.size;
  }

  get protocol(): ReceiverProtocol {
    return this.#options.protocol;
  }

  /** Queues what the receiver should get; it replaces what is queued about the same alert. */
  add(notification: Notification): void {
    const queued = this.#queue.get(notification);
    if (queued?.status === notification.status && queued.startsAtMs === notification.startsAtMs) {
      // Only the labels of time changed; what the request is recognized by stays the same.
      this.#queue.set({ ...notification, queuedAtMs: queued.queuedAtMs });
    } else {
      this.#queue.delete(notification);
      this.#queue.set(notification);
    }
    while (this.#queue.size > this.#options.maxQueued) {
      this.#queue.dropOldest();
      this.#options.onOutcome("dropped", 1);
    }
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Drops what is queued. What was not sent is sent by the server that evaluates the rules next. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
  }

  async #send(): Promise<void> {
    const { logger, name, onOutcome } = this.#options;
    const { signal } = this.#closing;
    let pauseMs = firstPauseMs;
    // Evaluations that end in this turn of the event loop share a request.
    await sleep(0, signal);
    while (this.#queue.size > 0 && !signal.aborted) {
      this.#dropExpired();
      const batch = this.#options.protocol.take(this.#queue.nextTurn());
      if (batch.length === 0) return;
      const outcome = await this.#post(batch);
      if (signal.aborted) return;
      if (outcome === "again") {
        // The receiver may refuse only these.
        this.#queue.moveBack(batch);
        await sleep(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        continue;
      }
      pauseMs = firstPauseMs;
      if (outcome === "sent" && this.#isFailing) {
        this.#isFailing = false;
        logger.info({ receiver: name }, "the receiver of alerts accepts notifications again");
      }
      onOutcome(outcome, batch.length);
      for (const notification of batch) this.#settle(notification, outcome);
    }
  }

  #settle(notification: Notification, outcome: Outcome): void {
    const { alert, origin, queuedAtMs, status } = notification;
    // What was queued about the alert meanwhile is still to be sent.
    const queued = this.#queue.get(notification);
    if (queued?.queuedAtMs === queuedAtMs && queued.status === status) this.#queue.delete(queued);
    // A request that is refused would be refused again: it counts as sent until the alert changes or the time to repeat it comes.
    alert.sent[this.#options.name] = { status, atMs: this.#options.now() };
    if (outcome === "sent") origin.onSent();
  }

  #dropExpired(): void {
    const { logger, name, now, onOutcome, retryForMs } = this.#options;
    const expired = this.#queue.deleteQueuedBefore(now() - retryForMs);
    if (expired === 0) return;
    onOutcome("dropped", expired);
    logger.error({ receiver: name, alerts: expired }, "alerts could not be delivered in time and are no longer sent");
  }

  async #post(batch: readonly Notification[]): Promise<Outcome> {
    const { bearerToken, timeoutMs } = this.#options;
    const { body, headers, url } = this.#options.protocol.request(batch);
    const authorization = bearerToken === undefined ? {} : { authorization: `Bearer ${bearerToken}` };
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization, ...headers },
        body,
        // A receiver must not lead the server elsewhere.
        redirect: "manual",
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]),
      });
      await response.body?.cancel();
      if (response.ok) return "sent";
      const isTemporary = response.status >= 500 || response.status === 429 || response.status === 408;
      this.#warn({ status: response.status });
      return isTemporary ? "again" : "failed";
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#warn({ error });
      return "again";
    }
  }

  /** One line for an outage, not one for each attempt. */
  #warn(fields: Readonly<Record<string, unknown>>): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.logger.warn(
      { receiver: this.#options.name, ...fields },
      "a receiver of alerts does not accept notifications",
    );
  }
}
