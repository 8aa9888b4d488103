/** The control database counts in UNIX seconds, as the admin API does. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
