/** The profile of a server that was started here, so that the other commands reach it without any settings. */
import type { CommandIo } from "../command.ts";
import { isOnThisMachine, isSameServer } from "../connection.ts";
import { identifyKey } from "./key-identity.ts";
import { changeProfile, defaultProfileName, readProfiles, type Profile, type Profiles } from "./profile-file.ts";

export interface ServerProfile {
  readonly name: string;
  /** The file, if it was written. */
  readonly file: string | undefined;
  readonly profile: Profile;
  /** Where the profile of this name is now whose keys it replaced. */
  readonly kept?: string | undefined;
}

interface FirstKeys {
  readonly key: string;
  readonly operatorKey: string | undefined;
}

/**
 * Stores the first keys of a server: as the default profile, or under the server's address if the default profile is
 * another server's. A profile of that name with other keys is of a server with another data directory at the same address: nothing shows
 * its keys again, so it stays under the next free name, such as `default-2`.
 * @throws CliError if the profile cannot be stored
 */
export async function storeFirstKeys(env: CommandIo["env"], url: string, keys: FirstKeys): Promise<ServerProfile> {
  const profiles = await readProfiles(env);
  const byDefault = profiles.get(defaultProfileName);
  const isFree = byDefault === undefined || isSameServer(byDefault.baseUrl, url);
  const name = isFree ? defaultProfileName : new URL(url).host;
  const profile: Profile = { baseUrl: url, apiKey: keys.key, operatorKey: keys.operatorKey };
  const replaced = profiles.get(name);
  const kept = replaced === undefined ? undefined : freeName(name, profiles);
  if (kept !== undefined) await changeProfile(env, kept, replaced);
  return { name, file: await changeProfile(env, name, profile), profile, kept };
}

function freeName(name: string, profiles: Profiles): string {
  let number = 2;
  while (profiles.has(`${name}-${number}`)) number += 1;
  return `${name}-${number}`;
}

const checkTimeoutMs = 3_000;

/**
 * The profile whose key the running server accepts. If the default profile's server was on another port of this machine, where
 * none responds any more, and this server accepts its key, the server has moved and the profile follows it.
 */
export async function findServerProfile(env: CommandIo["env"], url: string): Promise<ServerProfile | undefined> {
  const profiles = await readProfiles(env);
  const isAccepted = async ({ apiKey }: Profile): Promise<boolean> =>
    apiKey !== undefined &&
    (await identifyKey(url, apiKey, AbortSignal.timeout(checkTimeoutMs)).then(
      () => true,
      () => false,
    ));
  const byDefault = profiles.get(defaultProfileName);
  // The default profile first, since its name need not be typed.
  const names = [defaultProfileName, ...profiles.keys()];
  for (const name of new Set(names)) {
    const profile = profiles.get(name);
    if (profile === undefined || !isSameServer(profile.baseUrl, url)) continue;
    if (await isAccepted(profile)) return { name, file: undefined, profile };
  }
  if (byDefault === undefined || !isOnThisMachine(byDefault.baseUrl)) return undefined;
  if (!(await isAccepted(byDefault)) || (await responds(byDefault.baseUrl))) return undefined;
  const moved: Profile = { ...byDefault, baseUrl: url };
  return { name: defaultProfileName, file: await changeProfile(env, defaultProfileName, moved), profile: moved };
}

async function responds(url: string): Promise<boolean> {
  return await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(checkTimeoutMs) }).then(
    async ({ body }) => {
      await body?.cancel();
      return true;
    },
    () => false,
  );
}
