/**
 * The profiles of this user: servers with their keys, in `profiles.json` of the user's configuration folder. Only the user
 * may read the file, and it is always replaced as a whole.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";

type Environment = CommandIo["env"];

export interface Profile {
  readonly baseUrl: string;
  /** Key for calls and telemetry. */
  readonly apiKey: string | undefined;
  /** Key with the permission `admin`. */
  readonly operatorKey: string | undefined;
  /** Present if a person is signed in: then the key is an access token, for calls and administration. */
  readonly session?: ProfileSession | undefined;
}

export interface ProfileSession {
  readonly refreshToken: string;
  /** UNIX seconds at which the access token expires. */
  readonly expiresAt: number;
}

export type Profiles = ReadonlyMap<string, Profile>;

/** The profile that commands use unless another one is named. */
export const defaultProfileName = "default";

/** The file's path; undefined if the environment names neither a configuration folder nor a home. */
export function profileFile(env: Environment): string | undefined {
  const { XDG_CONFIG_HOME: configuration = "", HOME = "", USERPROFILE = "" } = env;
  // The specification tells programs to ignore relative paths.
  const folder = configuration.startsWith("/") ? configuration : undefined;
  const home = HOME || USERPROFILE;
  if (folder !== undefined) return join(folder, "sounding", "profiles.json");
  return home === "" ? undefined : join(home, ".config", "sounding", "profiles.json");
}

/** The path with `~` for the home folder. */
export function showPath(path: string, env: Environment): string {
  const home = env["HOME"] ?? "";
  return home !== "" && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The profiles; none if there is no file, or if it belongs to another user. Throws CliError if it is not valid. */
export async function readProfiles(env: Environment): Promise<Profiles> {
  return await readFrom(profileFile(env), ["ENOENT", "ENOTDIR", "EACCES"]);
}

async function readFrom(file: string | undefined, absent: readonly string[]): Promise<Profiles> {
  if (file === undefined) return new Map();
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (absent.includes(code)) return new Map();
    throw new CliError(`the profiles in ${file} cannot be read: ${message}`, exitCodes.configuration, { cause: error });
  }
  try {
    return parseProfiles(text);
  } catch (error) {
    throw new CliError(
      `the profiles in ${file} cannot be read: ${(error as Error).message}; correct the file, or delete it and run \`sounding login\``,
      exitCodes.configuration,
      { cause: error },
    );
  }
}

/** Stores the profile under the name; undefined removes it. Returns the file's path. Throws CliError. */
export async function changeProfile(env: Environment, name: string, profile: Profile | undefined): Promise<string> {
  const file = profileFile(env);
  if (file === undefined) {
    throw new CliError("profiles cannot be stored: neither XDG_CONFIG_HOME nor HOME is set", exitCodes.configuration);
  }
  const profiles = new Map(await readFrom(file, ["ENOENT"]));
  if (profile === undefined) profiles.delete(name);
  else profiles.set(name, profile);
  try {
    await replaceFile(file, renderProfiles(profiles));
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${(error as Error).message}`, exitCodes.failed, { cause: error });
  }
  return file;
}

function parseProfiles(text: string): Profiles {
  const { profiles } = membersOf(JSON.parse(text), "the file");
  const entries = Object.entries(membersOf(profiles ?? {}, "profiles"));
  return new Map(entries.map(([name, value]) => [name, parseProfile(value, name)]));
}

function parseProfile(value: unknown, name: string): Profile {
  const { base_url: baseUrl, api_key: apiKey, operator_key: operatorKey, ...session } = membersOf(value, name);
  if (typeof baseUrl !== "string" || !URL.canParse(baseUrl)) throw new Error(`${name}.base_url is not a URL`);
  return { baseUrl, apiKey: keyOf(apiKey), operatorKey: keyOf(operatorKey), session: sessionOf(session) };
}

function sessionOf({ expires_at: expiresAt, refresh_token: token }: Readonly<Record<string, unknown>>) {
  const refreshToken = keyOf(token);
  return refreshToken === undefined || typeof expiresAt !== "number" ? undefined : { refreshToken, expiresAt };
}

function keyOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function membersOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${name} is not an object`);
  return value as Record<string, unknown>;
}

function renderProfiles(profiles: Profiles): string {
  const entries = [...profiles].map(([name, { baseUrl, apiKey, operatorKey, session }]) => [
    name,
    {
      base_url: baseUrl,
      api_key: apiKey,
      operator_key: operatorKey,
      refresh_token: session?.refreshToken,
      expires_at: session?.expiresAt,
    },
  ]);
  return `${JSON.stringify({ profiles: Object.fromEntries(entries) as unknown }, undefined, 2)}\n`;
}

async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Two commands of one process may refresh the same token.
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
