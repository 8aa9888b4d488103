/** Shows the models that a server offers: what they do, which engine runs them, and whether they can answer now. */
import type { Model } from "@sounding/client";
import type { CommandIo, OptionValues } from "../command.ts";
import { errorLine } from "../cli-error.ts";
import { defaultUrl, findConnection, openClient, type connectionOptions } from "../connection.ts";
import { writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";

export interface Served {
  readonly url: string;
  readonly models: readonly Model[];
}

/** Undefined, with a line on standard error, if no server answers: the models on the disk can be listed without one. */
export async function readServed(
  values: OptionValues<typeof connectionOptions>,
  io: CommandIo,
): Promise<Served | undefined> {
  try {
    const url = (await findConnection(values, io)).url?.value ?? defaultUrl;
    const client = await openClient(values, io);
    const { data } = await client.models.list({ signal: io.signal });
    return { url, models: data };
  } catch (error) {
    io.signal.throwIfAborted();
    // An address that was named must answer.
    if (values.url !== undefined || values.profile !== undefined) throw error;
    await writeLine(io.stderr, `The models of the server are not listed: ${errorLine(error)}`);
    return undefined;
  }
}

export function servedToJson(model: Model): Record<string, unknown> {
  const { id, root, capabilities, engine, state, state_reason } = model;
  return { id, root, capabilities, engine, state, state_reason };
}

export async function showServed(io: CommandIo, { url, models }: Served): Promise<void> {
  await writeLine(io.stdout, `Served by ${url}:`);
  const byCapability = Map.groupBy(models, ({ capabilities }) => capabilities[0]);
  const rows = [...byCapability.values()]
    .flat()
    .map(({ id, root, capabilities, engine, state, state_reason: reason }) => [
      id === root ? id : `${id} → ${root}`,
      capabilities.join(", "),
      engine,
      `${state.replace("_", " ")}${reason === null ? "" : `: ${reason}`}`,
    ]);
  await writeTable(io, ["model", "capability", "engine", "state"], rows);
}
