/** Defines the options and results of pulling. */
import { join, resolve, sep } from "node:path";
import { AppError } from "../errors.ts";
import type { Downloaded, DownloadOptions, DownloadProgress, DownloadRetry } from "./download.ts";
import type { ProxySettings } from "../network/proxies.ts";

export interface PullOptions extends Pick<DownloadOptions, "signal" | "retryPauseMs" | "idleTimeoutMs" | "attempts"> {
  readonly dataDirectory: string;
  /** `owner/repository`, a file in one, a URL, or a package such as `pypi:NAME`. */
  readonly source: string;
  /** The checksum that the file or archive must have, in hexadecimal. */
  readonly sha256?: string | undefined;
  readonly hubEndpoint?: string | undefined;
  readonly hubToken?: string | undefined;
  readonly proxies?: ProxySettings | undefined;
  /** The environment of the clients of package registries, which find their configuration in it. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  onProgress?(name: string, progress: DownloadProgress): void;
  /** Called before each retry. */
  onRetry?(name: string, retry: DownloadRetry): void;
}

export interface PulledFile extends Omit<Downloaded, "sha256"> {
  /** Undefined for a folder that was copied. */
  readonly sha256: string | undefined;
  /** Relative to the models' directory, with slashes: its name in the configuration. */
  readonly name: string;
  readonly path: string;
}

export interface PullResult {
  readonly files: readonly PulledFile[];
  /** The folder that was pulled as a whole. */
  readonly folder: { readonly name: string; readonly path: string } | undefined;
  /** Of a package: the license that it declares, undefined if it declares none. */
  readonly license?: string | undefined;
}

export function modelsDirectoryOf(dataDirectory: string): string {
  return join(resolve(dataDirectory), "models");
}

/**
 * The path of a name in the models' directory. Names are checked where they enter; this check does not depend on that one.
 * @throws AppError invalid_request when the path would be outside
 */
export function pathOf(dataDirectory: string, name: string): string {
  const directory = modelsDirectoryOf(dataDirectory);
  const path = resolve(directory, name);
  if (name.includes("\0") || !path.startsWith(directory + sep))
    throw new AppError("invalid_request", `${JSON.stringify(name)} is not a path inside ${directory}.`);
  return path;
}
