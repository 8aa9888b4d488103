/** Shares a bounded number of bytes between organizations, so that none can fill all of it. */

export interface ByteLimits {
  readonly totalBytes: number;
  readonly organizationBytes: number;
}

export type FullShare = "organization" | "total";

/** Room above the total for organizations that use less than their share, so that others cannot fill all of it. */
const reserve = 1.25;

export class ByteShares {
  readonly #limits: ByteLimits;
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  /** Bytes that are taken. */
  get bytes(): number {
    return this.#bytes;
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
    const own = this.#bytesOf.get(organizationId) ?? 0;
    if (own > 0 && own + bytes > organizationBytes) return "organization";
    const wanted = this.#bytes + bytes;
    const organizations = this.#bytesOf.size + (own === 0 ? 1 : 0);
    const isWithinShare = own + bytes <= totalBytes / organizations && wanted <= reserve * totalBytes;
    return this.#bytes > 0 && wanted > totalBytes && !isWithinShare ? "total" : undefined;
  }

  /** Takes the bytes whatever the limits. */
  add(organizationId: string, bytes: number): void {
    this.#bytesOf.set(organizationId, (this.#bytesOf.get(organizationId) ?? 0) + bytes);
    this.#bytes += bytes;
  }

  release(organizationId: string, bytes: number): void {
    const left = this.#bytesOf.get(organizationId)! - bytes;
    if (left > 0) this.#bytesOf.set(organizationId, left);
    else this.#bytesOf.delete(organizationId);
    this.#bytes -= bytes;
  }
}
