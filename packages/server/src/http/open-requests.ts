/** Counts the requests and calls that are open, HTTP/1.1, gRPC and WebSockets alike, and bounds those of an organization. */
import { AppError } from "../errors.ts";

export class OpenRequests {
  readonly #most: number;
  readonly #byOrganization = new Map<string, number>();
  #count = 0;

  /** @param most how many requests an organization may have open */
  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Counts a request whose key is known.
   * @returns ends the count; call it once
   * @throws AppError rate_limited
   */
  open(organizationId: string): () => void {
    const open = (this.#byOrganization.get(organizationId) ?? 0) + 1;
    if (open > this.#most) {
      throw new AppError(
        "rate_limited",
        `This organization has ${this.#most} requests open, which is the limit of one server. Retry when some of them have ended.`,
      );
    }
    this.#byOrganization.set(organizationId, open);
    this.#count += 1;
    return () => this.#close(organizationId);
  }

  #close(organizationId: string): void {
    this.#count -= 1;
    const rest = this.#byOrganization.get(organizationId)! - 1;
    if (rest === 0) this.#byOrganization.delete(organizationId);
    else this.#byOrganization.set(organizationId, rest);
  }
}
