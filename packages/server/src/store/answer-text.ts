/** Reads short answers of the store completely, for statements of the server's own work. */
import type { Connection, Settings } from "./connection.ts";

interface WholeRead {
  readonly text: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly runsOnce?: boolean;
}

/** @throws as `Connection.read` */
export async function answerText(connection: Connection, read: WholeRead): Promise<string> {
  const { timeoutMs, signal, ...statement } = read;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const chunks: Uint8Array[] = [];
  for await (const chunk of await connection.read({ ...statement, signal: limited })) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** The rows of an answer in the format JSONCompactEachRow. 64-bit integers are texts. */
export async function answerRows<Row extends readonly unknown[]>(
  connection: Connection,
  read: WholeRead,
): Promise<Row[]> {
  const lines = (await answerText(connection, read)).split("\n").filter((line) => line !== "");
  return lines.map((line): Row => JSON.parse(line));
}
