/** Bounds the memory of all requests together: each request charges its allocations in advance. */
import { Amounts } from "./amounts.ts";
import { AppError } from "./errors.ts";

/** Who shares a budget, for error messages. */
type Sharer = "organization" | "client without a key";

/** The part of the limit that requests without a key have for themselves. */
const anonymousShare = 1 / 16;

/**
 * A shared limit. An organization may hold half of it, and no more than it leaves free: so the first can have a half, the next
 * a quarter and so on, and whatever some of them hold, a newcomer still gets something.
 */
export class MemoryBudget {
  readonly #limitBytes: number;
  readonly #sharer: Sharer;
  readonly #used = new Amounts();
  #anonymous: MemoryBudget | undefined;

  constructor(limitBytes: number, sharer: Sharer = "organization") {
    this.#limitBytes = limitBytes;
    this.#sharer = sharer;
  }

  /** Bytes charged now. */
  get usedBytes(): number {
    return this.#used.total + (this.#anonymous?.usedBytes ?? 0);
  }

  /** Opens the charge of one request, which must be released. */
  open(organizationId: string): MemoryCharge {
    return new MemoryCharge(this, organizationId);
  }

  /**
   * Opens the charge of one request without a key. Such requests have a small budget of their own, so that they take nothing
   * from the others.
   * @param client its network: http/client-address.ts
   */
  openAnonymous(client: string): MemoryCharge {
    this.#anonymous ??= new MemoryBudget(this.#limitBytes * anonymousShare, "client without a key");
    return this.#anonymous.open(client);
  }

  /**
   * For MemoryCharge only.
   * @param heldBytes what the request has charged so far
   */
  add(sharer: string, bytes: number, heldBytes: number): void {
    const shareBytes = this.#limitBytes / 2;
    if (heldBytes + bytes > shareBytes) {
      throw new AppError(
        "payload_too_large",
        `This request needs more than ${shareBytes} bytes of memory, which is the limit of one ${this.#sharer}. Send a smaller request.`,
      );
    }
    const sharerBytes = this.#used.of(sharer) + bytes;
    if (sharerBytes > shareBytes) {
      throw new AppError(
        "rate_limited",
        `The concurrent requests of this ${this.#sharer} need more than ${shareBytes} bytes of memory. Retry later, or send fewer or smaller requests concurrently.`,
      );
    }
    if (sharerBytes > this.#limitBytes - this.#used.total - bytes) {
      throw new AppError(
        "overloaded",
        `The concurrent requests of others hold too much of the ${this.#limitBytes} bytes of memory that all have together. Retry later.`,
      );
    }
    this.#used.add(sharer, bytes);
  }

  /** For MemoryCharge only. */
  remove(sharer: string, bytes: number): void {
    this.#used.remove(sharer, bytes);
  }
}

/** The memory of one request. Charge before you allocate; `http/` releases everything when the request ends. */
export class MemoryCharge {
  readonly #budget: MemoryBudget;
  readonly #sharer: string;
  #bytes = 0;
  #released = false;

  constructor(budget: MemoryBudget, sharer: string) {
    this.#budget = budget;
    this.#sharer = sharer;
  }

  /** @throws AppError payload_too_large, rate_limited or overloaded; and charges nothing; client_closed after the release */
  add(bytes: number): void {
    if (this.#released) throw new AppError("client_closed", "The request ended before its work did.");
    this.#budget.add(this.#sharer, bytes, this.#bytes);
    this.#bytes += bytes;
  }

  /** Returns part of the charge before the request ends. */
  remove(bytes: number): void {
    const returned = Math.min(bytes, this.#bytes);
    this.#budget.remove(this.#sharer, returned);
    this.#bytes -= returned;
  }

  release(): void {
    this.remove(this.#bytes);
    this.#released = true;
  }
}
