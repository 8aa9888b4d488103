/** Finds the server and the key for commands that call a server: from options, the environment or a profile. */
import { readFile } from "node:fs/promises";
import { AsyncSounding } from "@sounding/client";
import { CliError, UsageError } from "./cli-error.ts";
import type { CommandIo, Options, OptionValues } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { currentProfile } from "./profiles/current-profile.ts";
import { defaultProfileName, profileFile, readProfiles, type Profile } from "./profiles/profile-file.ts";
import { cliVersion } from "./version.ts";

/** The options that select a server and a key. */
export const serverOptions = {
  url: {
    type: "string",
    value: "URL",
    description: "The server's address. Default: SOUNDING_BASE_URL, the profile's, or http://127.0.0.1:4141.",
  },
  "key-file": {
    type: "string",
    value: "FILE",
    description: "A file that contains the API key. Default: SOUNDING_API_KEY, or the profile's key.",
  },
  profile: {
    type: "string",
    value: "NAME",
    description: "The profile to use, as stored by `sounding login`. Default: SOUNDING_PROFILE, or default.",
  },
} as const satisfies Options;

/** The options of commands that call a server for a project. */
export const connectionOptions = {
  ...serverOptions,
  project: { type: "string", value: "NAME", description: "The project that the call belongs to." },
  timeout: { type: "string", value: "SECONDS", description: "Maximum duration of a call." },
} as const satisfies Options;

type ServerValues = Partial<OptionValues<typeof serverOptions>>;
type ReadEnvironment = Pick<CommandIo, "env">;

/** A value, and where it comes from, such as `--url` or `the profile default`. */
export interface Sourced {
  readonly value: string;
  readonly source: string;
}

/** What the options, the environment and the profile say about the server and its keys. */
export interface Connection {
  /** The server's address without a slash or `/v1` at its end; undefined if nothing names one. */
  readonly url: Sourced | undefined;
  readonly apiKey: Sourced | undefined;
  /** A key for the admin API. */
  readonly operatorKey: Sourced | undefined;
  /** The name of the profile in use. */
  readonly profile: string | undefined;
  /** Whether the profile's key is the access token of a person. */
  readonly isPerson: boolean;
}

export const defaultUrl = "http://127.0.0.1:4141";

/**
 * Options take precedence over the environment, and the environment over the profile. A profile that an option names is
 * an option. A profile's keys are sent only to the profile's own server, unless the profile is named.
 * @throws CliError, UsageError
 */
export async function findConnection(values: ServerValues, { env }: ReadEnvironment): Promise<Connection> {
  const given = (name: string): Sourced | undefined => {
    const value = env[name] ?? "";
    return value === "" ? undefined : { value, source: name };
  };
  const fileKey =
    values["key-file"] === undefined
      ? undefined
      : { value: await readKeyFile(values["key-file"]), source: values["key-file"] };
  const urlOption = values.url === undefined ? undefined : { value: values.url, source: "--url" };
  const wanted = values.profile ?? (env["SOUNDING_PROFILE"] || undefined);
  const named = await findProfile(wanted, urlOption ?? given("SOUNDING_BASE_URL"), env);
  const needsProfile =
    fileKey === undefined && (values.profile !== undefined || given("SOUNDING_API_KEY") === undefined);
  const found =
    named === undefined || !needsProfile
      ? named
      : { ...named, profile: await currentProfile(named.name, named.profile, env) };
  const session = found?.profile.session;
  const stored = (value: string | undefined): Sourced | undefined =>
    found === undefined || value === undefined ? undefined : { value, source: `the profile ${found.name}` };
  const isOption = values.profile !== undefined;
  const pick = (variable: string, value: string | undefined): Sourced | undefined =>
    isOption ? (stored(value) ?? given(variable)) : (given(variable) ?? stored(value));
  const url = urlOption ?? pick("SOUNDING_BASE_URL", found?.profile.baseUrl);
  return {
    url: url === undefined ? undefined : { ...url, value: normalizeUrl(url.value) },
    apiKey: fileKey ?? pick("SOUNDING_API_KEY", found?.profile.apiKey),
    operatorKey:
      fileKey ?? pick("SOUNDING_ADMIN_KEY", found?.profile.operatorKey ?? (session && found?.profile.apiKey)),
    profile: found?.name,
    isPerson: needsProfile && session !== undefined,
  };
}

interface Found {
  readonly name: string;
  readonly profile: Profile;
}

async function findProfile(
  wanted: string | undefined,
  url: Sourced | undefined,
  env: CommandIo["env"],
): Promise<Found | undefined> {
  const profiles = await readProfiles(env);
  if (wanted !== undefined) {
    const profile = profiles.get(wanted);
    if (profile !== undefined) return { name: wanted, profile };
    const known = [...profiles.keys()].join(", ") || "none";
    const file = profileFile(env) ?? "the configuration folder";
    throw new UsageError(
      `the profile ${JSON.stringify(wanted)} does not exist in ${file} (profiles: ${known}); create it with \`sounding login --profile ${wanted}\``,
    );
  }
  const byDefault = profiles.get(defaultProfileName);
  const ordered: Found[] = [...profiles].map(([name, profile]) => ({ name, profile }));
  if (byDefault !== undefined) ordered.unshift({ name: defaultProfileName, profile: byDefault });
  if (url === undefined) return ordered.find(({ name }) => name === defaultProfileName);
  return ordered.find(({ profile }) => isSameServer(profile.baseUrl, normalizeUrl(url.value)));
}

/** Whether two addresses name the same server; `localhost` is 127.0.0.1. */
export function isSameServer(left: string, right: string): boolean {
  const [one, other] = [left, right].map((each) => {
    const url = new URL(each);
    const host = ["localhost", "[::1]"].includes(url.hostname) ? "127.0.0.1" : url.hostname;
    return `${url.protocol}//${host}:${url.port}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
  });
  return one === other;
}

/** Whether the address is this machine's loopback. */
export function isOnThisMachine(url: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
}

/** The address without a slash or `/v1` at its end. Throws UsageError. */
export function normalizeUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new UsageError(`the server's address is ${JSON.stringify(url)}; it must be one such as ${defaultUrl}`);
  }
  return url.replace(/\/+$/, "").replace(/\/v1$/, "");
}

/** The key in the file. Throws CliError. */
export async function readKeyFile(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CliError(`the key file ${file} cannot be read: ${(error as Error).message}`, exitCodes.denied);
  });
  return text.trim();
}

/** The server's address and the API key. Throws CliError if there is no key. */
export async function requireConnection(
  values: ServerValues,
  io: ReadEnvironment,
): Promise<{ readonly url: string; readonly key: string }> {
  return requireKey(await findConnection(values, io));
}

/** As `requireConnection`. */
export function requireKey({ url, apiKey }: Connection): { readonly url: string; readonly key: string } {
  const address = url?.value ?? defaultUrl;
  if (apiKey !== undefined) return { url: address, key: apiKey.value };
  throw new CliError(
    `no API key for ${address}: run \`sounding login\`, set SOUNDING_API_KEY, or use --key-file FILE`,
    exitCodes.denied,
  );
}

/** A client for the server and the key that the command line, the environment or the profile names. */
export async function openClient(
  values: Partial<OptionValues<typeof connectionOptions>>,
  io: ReadEnvironment,
  headers: Readonly<Record<string, string>> = {},
): Promise<AsyncSounding> {
  const { url, key } = await requireConnection(values, io);
  return new AsyncSounding({
    apiKey: key,
    baseUrl: url,
    project: values.project,
    timeout: numberOption("timeout", values.timeout),
    defaultHeaders: { "user-agent": `sounding-cli/${cliVersion()} node/${process.versions.node}`, ...headers },
  });
}

/** The option's value as a number; undefined if it was not given. */
export function numberOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(value)) throw new UsageError(`--${name} is "${text}"; it must be a number`);
  return value;
}
