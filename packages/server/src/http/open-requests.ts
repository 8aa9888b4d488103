/** Counts the requests and calls that are open, HTTP/1.1, gRPC and WebSockets alike, and bounds those of an organization. */
import { Amounts } from "../amounts.ts";
import { AppError } from "../errors.ts";

export class OpenRequests {
  readonly #most: number;
  readonly #open = new Amounts();

  /** @param most how many requests an organization may have open */
  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#open.total;
  }

  /**
   * Counts a request whose key is known.
   * @returns ends the count; call it once
   * @throws AppError rate_limited
   */
  open(organizationId: string): () => void {
    if (this.#open.of(organizationId) >= this.#most) {
      throw new AppError(
        "rate_limited",
        `This organization has ${this.#most} requests open, which is the limit of one server. Retry when some of them have ended.`,
      );
    }
    this.#open.add(organizationId, 1);
    return () => this.#open.remove(organizationId, 1);
  }
}
