/** The newest events of a running response, for those who follow it in this process and for the store. */
import { abortable } from "../../abort.ts";
import type { NewEvents, ResponseEventText } from "../../tenancy/event-rows.ts";

/** Followers that are further behind read from the store. */
export const logBytes = 1_048_576;
/** With more that is not in the store, the response waits for it. */
const mostUnwritten = logBytes / 4;

export class EventLog {
  #events: ResponseEventText[] = [];
  /** The sequence number of the first one. */
  #first = 0;
  #bytes = 0;
  /** The sequence number up to which events are in the store, that one excluded. */
  #written = 0;
  #unwrittenBytes = 0;
  #isEnded = false;
  #changed = Promise.withResolvers<void>();

  /** The sequence number of the next event. */
  get next(): number {
    return this.#first + this.#events.length;
  }

  /** No event will follow. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether the store should be written before more is added. */
  get isFull(): boolean {
    return this.#unwrittenBytes >= mostUnwritten;
  }

  append(event: ResponseEventText): void {
    this.#events.push(event);
    this.#bytes += sizeOf(event);
    this.#unwrittenBytes += sizeOf(event);
    while (this.#bytes > logBytes && this.#events.length > 1) {
      this.#bytes -= sizeOf(this.#events.shift()!);
      this.#first += 1;
    }
    this.#notify();
  }

  /** Ends it for followers, which read the rest, if any, from the store. */
  end(): void {
    this.#isEnded = true;
    this.#notify();
  }

  /** Undefined if it is not there yet, or no longer. */
  at(sequence: number): ResponseEventText | undefined {
    return this.#events[sequence - this.#first];
  }

  /** Resolves after the next change. Rejects with the signal's reason. */
  changed(signal: AbortSignal): Promise<void> {
    return abortable(this.#changed.promise, signal);
  }

  /** What the store lacks; undefined if nothing. Events that fell out of memory before are lost. */
  unwritten(): NewEvents | undefined {
    const first = Math.max(this.#written, this.#first);
    const events = this.#events.slice(first - this.#first);
    return events.length === 0 ? undefined : { first, events };
  }

  onWritten({ first, events }: NewEvents): void {
    this.#written = first + events.length;
    this.#unwrittenBytes = 0;
    for (let at = Math.max(0, this.#written - this.#first); at < this.#events.length; at += 1) {
      this.#unwrittenBytes += sizeOf(this.#events[at]!);
    }
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

function sizeOf({ data, name }: ResponseEventText): number {
  return data.length + name.length;
}
