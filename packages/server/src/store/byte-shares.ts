/** Shares a bounded number of bytes between organizations, so that none can fill all of it. */
import { Amounts } from "../amounts.ts";

export interface ByteLimits {
  readonly totalBytes: number;
  readonly organizationBytes: number;
}

export type FullShare = "organization" | "total";

/** Room above the total for organizations that use less than their share, so that others cannot fill all of it. */
const reserve = 1.25;

export class ByteShares {
  readonly #limits: ByteLimits;
  readonly #taken = new Amounts();

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  /** Bytes that are taken. */
  get bytes(): number {
    return this.#taken.total;
  }

  /** Bytes that the organization has taken. */
  of(organizationId: string): number {
    return this.#taken.of(organizationId);
  }

  /** Takes the bytes, unless a limit prevents it; then returns whose. */
  take(organizationId: string, bytes: number): FullShare | undefined {
    const full = this.fullFor(organizationId, bytes);
    if (full === undefined) this.add(organizationId, bytes);
    return full;
  }

  /** Whose limit the bytes would exceed. What is larger than a limit fits if nothing else is there. */
  fullFor(organizationId: string, bytes: number): FullShare | undefined {
    const { totalBytes, organizationBytes } = this.#limits;
    const own = this.#taken.of(organizationId);
    if (own > 0 && own + bytes > organizationBytes) return "organization";
    const wanted = this.#taken.total + bytes;
    const organizations = this.#taken.size + (own === 0 ? 1 : 0);
    const isWithinShare = own + bytes <= totalBytes / organizations && wanted <= reserve * totalBytes;
    return this.#taken.total > 0 && wanted > totalBytes && !isWithinShare ? "total" : undefined;
  }

  /** Takes the bytes whatever the limits. */
  add(organizationId: string, bytes: number): void {
    this.#taken.add(organizationId, bytes);
  }

  release(organizationId: string, bytes: number): void {
    this.#taken.remove(organizationId, bytes);
  }
}
