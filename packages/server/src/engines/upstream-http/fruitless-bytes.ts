/**
 * Bounds what an upstream sends in a stream without getting ahead: comments, pings, events without content. Each is legal, and
 * an endless number of them would keep a call, and the server, busy until the call's time is up.
 */
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";

/** A heartbeat of 100 bytes each second fills it in three hours. */
const maximumBytes = inputLimit({
  area: "Chat completions",
  bounds: "What an engine's stream may send between two events with content",
  value: 1_048_576,
  unit: "bytes",
  error: "upstream_failed",
});

/** Where an event's bytes count as well until it is complete. */
export const maximumWithEvent = inputLimit({
  area: "Chat completions",
  bounds: "What a stream of a vendor's own API may send until the next chunk",
  value: 9_437_184,
  unit: "bytes",
  error: "upstream_failed",
});

export class FruitlessBytes {
  readonly #maximum: number;
  #bytes = 0;

  constructor(maximum = maximumBytes) {
    this.#maximum = maximum;
  }

  /** @throws AppError upstream_failed */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maximum) return;
    throw new AppError("upstream_failed", `The engine sent more than ${this.#maximum} bytes without content.`);
  }

  /** Something with content came. */
  reset(): void {
    this.#bytes = 0;
  }
}
