/** The range of times that the store has: from 1970 to 2262, in nanoseconds. */
import { bind, type Parameter } from "../../../store/statement.ts";

export const lastUnixNano = 2n ** 63n - 1n;

/** The time itself, or the nearest that a statement can compare with. */
export function storeTime(unixNano: bigint): Parameter {
  return bind.time(unixNano > lastUnixNano ? lastUnixNano : unixNano < -1n ? -1n : unixNano);
}
