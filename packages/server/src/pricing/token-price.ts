/** Of one million tokens, in the currency of the configuration. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** Of input tokens that were read from a cache. */
  readonly cacheRead: number;
  /** Of input tokens that were written to a cache. */
  readonly cacheWrite: number;
}
