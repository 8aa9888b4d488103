/** Creates the client for commands that call a server, from options and environment. */
import { readFile } from "node:fs/promises";
import { AsyncSounding } from "@sounding/client";
import { CliError, UsageError } from "./cli-error.ts";
import type { CommandIo, Options, OptionValues } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { cliVersion } from "./version.ts";

/** Options of all commands that call a server. */
export const connectionOptions = {
  url: {
    type: "string",
    value: "URL",
    description: "The server's address. Default: SOUNDING_BASE_URL, or http://127.0.0.1:4141.",
  },
  "key-file": {
    type: "string",
    value: "FILE",
    description: "A file that contains the API key. Default: SOUNDING_API_KEY.",
  },
  project: { type: "string", value: "NAME", description: "The project that the call belongs to." },
  timeout: { type: "string", value: "SECONDS", description: "Maximum duration of a call." },
} as const satisfies Options;

/** A client for the server and the key that the command line or the environment name. */
export async function openClient(
  values: OptionValues<typeof connectionOptions>,
  io: Pick<CommandIo, "env">,
): Promise<AsyncSounding> {
  return new AsyncSounding({
    apiKey: await readKey(values["key-file"], io.env),
    baseUrl: values.url ?? (io.env["SOUNDING_BASE_URL"] || undefined),
    project: values.project,
    timeout: numberOption("timeout", values.timeout),
    defaultHeaders: { "user-agent": `sounding-cli/${cliVersion()} node/${process.versions.node}` },
  });
}

/** The option's value as a number; undefined if it was not given. */
export function numberOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(value)) throw new UsageError(`--${name} is "${text}"; it must be a number`);
  return value;
}

/** The server's address without a slash or `/v1` at its end. Throws UsageError. */
export function serverUrl(url: string | undefined, io: Pick<CommandIo, "env">): string {
  const address = url ?? (io.env["SOUNDING_BASE_URL"] || "http://127.0.0.1:4141");
  if (!URL.canParse(address) || !/^https?:/.test(address)) {
    throw new UsageError(
      `the server's address is ${JSON.stringify(address)}; it must be one such as http://127.0.0.1:4141`,
    );
  }
  return address.replace(/\/+$/, "").replace(/\/v1$/, "");
}

/** The API key from the file, otherwise from the environment. Throws CliError. */
export async function readKey(file: string | undefined, env: CommandIo["env"]): Promise<string> {
  if (file !== undefined) {
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      throw new CliError(`the key file ${file} cannot be read: ${(error as Error).message}`, exitCodes.denied);
    });
    return text.trim();
  }
  const key = env["SOUNDING_API_KEY"];
  if (key === undefined || key === "") {
    throw new CliError("no API key: set SOUNDING_API_KEY, or use --key-file FILE", exitCodes.denied);
  }
  return key;
}
