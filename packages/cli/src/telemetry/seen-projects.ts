/** Asks a server which projects the telemetry of the key's organization names. */
import type { CommandIo, OptionValues } from "../command.ts";
import type { connectionOptions } from "../administration.ts";
import { findConnection } from "../connection.ts";
import { sendRequest } from "../remote-request.ts";

export interface SeenProjects {
  readonly organization_id: string;
  readonly data: readonly { readonly name: string; readonly signals: readonly string[] }[];
}

/** The projects, or why they are not known. */
export type SeenResult = { readonly seen: SeenProjects } | { readonly seen: undefined; readonly reason: string };

/** Never throws, because the list is useful without what this adds. */
export async function readSeenProjects(
  values: Partial<OptionValues<typeof connectionOptions>>,
  io: CommandIo,
): Promise<SeenResult> {
  const unknown = (reason: string): SeenResult => ({ seen: undefined, reason });
  const noServer = "the control database of this machine has no telemetry; name a server with --url";
  if (values.local === true || values.config !== undefined) return unknown(noServer);
  const { url, apiKey, operatorKey } = await findConnection(values, io);
  const key = apiKey ?? operatorKey;
  if (url === undefined || key === undefined) return unknown(noServer);
  const server = {
    url: url.value,
    key: key.value,
    signal: io.signal,
    ifUnreachable: "Start the server.",
    ifDenied: "Set a key with the permission telemetry_read in SOUNDING_API_KEY.",
  };
  try {
    return { seen: (await sendRequest(server, "GET", "/observability/projects")) as SeenProjects };
  } catch (error) {
    return unknown((error as Error).message);
  }
}
