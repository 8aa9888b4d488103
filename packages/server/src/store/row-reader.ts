/** Reads the rows of a result, one line each, and decrypts what is encrypted in them. */
import { hasSealed } from "../encryption/telemetry-cipher.ts";
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { openValues, type OpenSealed } from "./open-sealed.ts";
import { StoreError } from "./store-error.ts";
import type { Row } from "./store.ts";

/** @throws StoreError for a line that is not a row: a server that fails in the middle of a response writes its error there */
function valuesOf(line: string): unknown[] {
  try {
    const values: unknown = JSON.parse(line);
    if (Array.isArray(values)) return values;
  } catch {
    // Then it is the error, or the rest of a truncated response.
  }
  throw StoreError.fromBrokenAnswer(line);
}

/**
 * The rows of each chunk together: passing rows on one by one costs more time than their JSON.
 * @param open decrypts what is encrypted; undefined: the statement reads nothing that can be
 */
export async function* rowsOf<Shape>(
  body: AsyncIterable<Uint8Array>,
  open: OpenSealed | undefined,
): AsyncGenerator<Shape[]> {
  const decoder = new TextDecoder();
  const yielder = new CooperativeYield();
  let names: readonly string[] | undefined;
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    const rows: Shape[] = [];
    for (const line of lines) {
      if (line === "") continue;
      const values = valuesOf(line);
      if (open !== undefined && hasSealed(line)) await openValues(values, open, yielder);
      if (names === undefined) names = values as string[];
      else rows.push(toRow(names, values) as Shape);
      if (yielder.isDue()) await yielder.yield();
    }
    yield rows;
  }
  if (rest !== "") throw StoreError.fromBrokenAnswer(rest);
}

function toRow(names: readonly string[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index++) row[names[index]!] = values[index];
  return row;
}
