/** Chooses the data directory when nothing sets it: the same for every working directory. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Environment } from "./interpolate.ts";

/** The folder in the working directory that was the default before; its data stays in use. */
const formerDefault = "sounding-data";

/** For the documentation of the setting. */
export const describeDefaultDataDirectory =
  "`$XDG_DATA_HOME/sounding`, which is `~/.local/share/sounding`; for a service, systemd's `StateDirectory` or `/var/lib/sounding`";

/** Whether the directory is a `./sounding-data` of the working directory that an earlier version created. */
export function isFormerDefault(directory: string): boolean {
  return directory === resolve(formerDefault);
}

/** @returns an absolute path */
export function defaultDataDirectory(env: Environment): string {
  const former = resolve(formerDefault);
  if (statSync(former, { throwIfNoEntry: false })?.isDirectory() === true) return former;
  // systemd's StateDirectory=; several are separated by colons. https://www.freedesktop.org/software/systemd/man/systemd.exec
  const state = (env["STATE_DIRECTORY"] ?? "").split(":")[0]!;
  if (isAbsolute(state)) return state;
  const data = env["XDG_DATA_HOME"] ?? "";
  // The specification tells programs to ignore relative paths.
  if (isAbsolute(data)) return join(data, "sounding");
  const home = env["HOME"] ?? "";
  if (isAbsolute(home)) return join(home, ".local", "share", "sounding");
  // A service manager starts root's services without HOME.
  return process.getuid?.() === 0 ? "/var/lib/sounding" : join(homedir(), ".local", "share", "sounding");
}
