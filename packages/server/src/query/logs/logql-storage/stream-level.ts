/** The level of log entries in Loki's words, in JavaScript and in SQL. */
import { levels } from "../../../store/schema.ts";
import { bind, sql } from "../../../store/statement.ts";

/** By the numbers that `streamLevel` gives. */
export const levelWords = ["unknown", "trace", "debug", "info", "warn", "error", "fatal"] as const;

/** `debug` of the column `level` is 2 here, and so on. */
const shift = levelWords.indexOf("debug") - levels.debug;

/** Loki's levels beside the four of the column. Few texts exist, and each is matched once per block of rows. */
const isTrace = sql`match(severity_text, '(?i)^\\s*trace')`;
const isFatal = sql`match(severity_text, '(?i)^\\s*(fatal|crit|alert|emerg|panic)')`;

/**
 * Four severity numbers make a level. Without one, the text says what it is; without a text, nothing does. Arithmetic, because
 * conditional functions are four times slower.
 */
export const streamLevel = sql`toUInt8((severity_number <= 24) * bitShiftRight(severity_number + 3, 2)
  + (severity_number = 0 OR severity_number > 24) * (severity_text != '')
    * (toUInt8(level) + ${bind.uint8(shift)} - ${isTrace} + ${isFatal}))`;
