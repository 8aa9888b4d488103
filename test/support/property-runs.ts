/** How many random cases property tests try: a quarter by default, all of them nightly with SOUNDING_TEST_THOROUGH=1. */

/** For tests that try every combination only then. */
export const isThorough = process.env["SOUNDING_TEST_THOROUGH"] === "1";

export function propertyRuns(thorough: number): number {
  return isThorough ? thorough : Math.max(Math.min(thorough, 25), Math.ceil(thorough / 4));
}
