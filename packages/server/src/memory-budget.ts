/** Bounds the memory of all requests together: each request charges its allocations in advance. */
import { AppError } from "./errors.ts";

/** A shared limit. One organization may use half of it, so that it cannot starve the others. */
export class MemoryBudget {
  readonly #limitBytes: number;
  readonly #organizations = new Map<string, number>();
  #usedBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes charged now. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Opens the charge of one request, which must be released. */
  open(organizationId: string): MemoryCharge {
    return new MemoryCharge(this, organizationId);
  }

  /**
   * For MemoryCharge only.
   * @param heldBytes what the request has charged so far
   */
  add(organizationId: string, bytes: number, heldBytes: number): void {
    const shareBytes = this.#limitBytes / 2;
    if (heldBytes + bytes > shareBytes) {
      throw new AppError(
        "payload_too_large",
        `This request needs more than ${shareBytes} bytes of memory, which is the limit of one organization. Send a smaller request.`,
      );
    }
    const organizationBytes = (this.#organizations.get(organizationId) ?? 0) + bytes;
    if (organizationBytes > shareBytes) {
      throw new AppError(
        "rate_limited",
        `This organization's concurrent requests need more than ${shareBytes} bytes of memory. Retry later, or send fewer or smaller requests concurrently.`,
      );
    }
    if (this.#usedBytes + bytes > this.#limitBytes) {
      throw new AppError(
        "overloaded",
        `The concurrent requests of all organizations need more than ${this.#limitBytes} bytes of memory. Retry later.`,
      );
    }
    this.#usedBytes += bytes;
    this.#organizations.set(organizationId, organizationBytes);
  }

  /** For MemoryCharge only. */
  remove(organizationId: string, bytes: number): void {
    this.#usedBytes -= bytes;
    const rest = (this.#organizations.get(organizationId) ?? 0) - bytes;
    if (rest === 0) this.#organizations.delete(organizationId);
    else this.#organizations.set(organizationId, rest);
  }
}

/** The memory of one request. Charge before you allocate; `http/` releases everything when the request ends. */
export class MemoryCharge {
  readonly #budget: MemoryBudget;
  readonly #organizationId: string;
  #bytes = 0;
  #released = false;

  constructor(budget: MemoryBudget, organizationId: string) {
    this.#budget = budget;
    this.#organizationId = organizationId;
  }

  /** @throws AppError payload_too_large, rate_limited or overloaded; and charges nothing; client_closed after the release */
  add(bytes: number): void {
    if (this.#released) throw new AppError("client_closed", "The request ended before its work did.");
    this.#budget.add(this.#organizationId, bytes, this.#bytes);
    this.#bytes += bytes;
  }

  /** Returns part of the charge before the request ends. */
  remove(bytes: number): void {
    const returned = Math.min(bytes, this.#bytes);
    this.#budget.remove(this.#organizationId, returned);
    this.#bytes -= returned;
  }

  release(): void {
    this.remove(this.#bytes);
    this.#released = true;
  }
}
