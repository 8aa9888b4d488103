/** Renders objects of the admin API as text. */
import type { Writable } from "node:stream";
import type { CommandIo } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { oneLine, writeJson, writeLine } from "./output.ts";
import { formatTime, type TimeOptions } from "./terminal/times.ts";

/** One object, one member per line; members that are objects are written as JSON. */
export async function writeObject(stream: Writable, object: object, times: TimeOptions): Promise<void> {
  const members = Object.entries(object).filter(([name]) => name !== "object");
  const width = Math.max(...members.map(([name]) => name.length));
  for (const [name, value] of members) {
    await writeLine(
      stream,
      `${name.padEnd(width)}  ${oneLine(name.endsWith("_at") ? showTime(value, times) : showValue(value))}`,
    );
  }
}

/** The result of a command that reads or changes one object. @returns the exit code */
export async function writeResult(
  { stdout }: CommandIo,
  { json, values }: { json: boolean; values: TimeOptions },
  object: object,
): Promise<number> {
  await (json ? writeJson(stdout, object) : writeObject(stdout, object, values));
  return exitCodes.ok;
}

/** UNIX seconds as readable time; `-` for none. */
export function showTime(seconds: unknown, times: TimeOptions): string {
  return typeof seconds === "number" ? formatTime(seconds * 1000, times) : "-";
}

function showValue(value: unknown): string {
  if (value === null) return "-";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value ?? {}).map(([name, member]) => `${name}=${showValue(member)}`);
  return members.join(", ") || "-";
}

/** Limits in one cell of a table. */
export function showLimits(limits: object): string {
  return showValue(limits);
}
