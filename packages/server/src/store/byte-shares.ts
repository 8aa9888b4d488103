/** Shares a bounded number of bytes between organizations, so that none can fill all of it. */

export interface ByteLimits {
  readonly totalBytes: number;
  readonly organizationBytes: number;
}

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

  /** Takes the bytes, or says whose limit prevents it. What is larger than a limit fits if nothing else is there. */
  take(organizationId: string, bytes: number): "taken" | "organization_full" | "full" {
    const { totalBytes, organizationBytes } = this.#limits;
    const own = this.#bytesOf.get(organizationId) ?? 0;
    if (own > 0 && own + bytes > organizationBytes) return "organization_full";
    const wanted = this.#bytes + bytes;
    const organizations = this.#bytesOf.size + (own === 0 ? 1 : 0);
    const isWithinShare = own + bytes <= totalBytes / organizations && wanted <= reserve * totalBytes;
    if (this.#bytes > 0 && wanted > totalBytes && !isWithinShare) return "full";
    this.add(organizationId, bytes);
    return "taken";
  }

  /** Whether the organization has used most of its own limit, rather than the total. */
  isFullFor(organizationId: string): boolean {
    return (this.#bytesOf.get(organizationId) ?? 0) >= this.#limits.organizationBytes / 2;
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
