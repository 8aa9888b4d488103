/**
 * Bounds the memory that request bodies take together while they are read and worked on, so that many large requests at
 * once are refused for a moment instead of exhausting the process; and leaves room for others when one sender floods.
 */
import { AppError } from "../errors.ts";

const retryAfterMs = 1000;

export class BodyMemory {
  readonly #limitBytes: number;
  readonly #organizations = new Map<string, number>();
  #usedBytes = 0;

  /** @param limitBytes of all organizations together; one of them may take half of it */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Begins to count one request's body. The charge must be released. */
  open(organizationId: string): BodyCharge {
    return new BodyCharge((bytes) => this.#add(organizationId, bytes));
  }

  #add(organizationId: string, bytes: number): void {
    const used = (this.#organizations.get(organizationId) ?? 0) + bytes;
    if (bytes > 0 && used > this.#limitBytes / 2) {
      throw new AppError("rate_limited", "Too many large requests of this organization are under way.", {
        retryAfterMs,
      });
    }
    if (bytes > 0 && this.#usedBytes + bytes > this.#limitBytes) {
      throw new AppError("overloaded", "Too many large requests are under way.", { retryAfterMs });
    }
    this.#usedBytes += bytes;
    if (used === 0) this.#organizations.delete(organizationId);
    else this.#organizations.set(organizationId, used);
  }
}

/** What one request holds of the memory. */
export class BodyCharge {
  readonly #change: (bytes: number) => void;
  #bytes = 0;

  constructor(change: (bytes: number) => void) {
    this.#change = change;
  }

  /** @throws AppError rate_limited or overloaded */
  add(bytes: number): void {
    this.#change(bytes);
    this.#bytes += bytes;
  }

  release(): void {
    this.#change(-this.#bytes);
    this.#bytes = 0;
  }
}
