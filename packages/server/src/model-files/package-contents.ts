/**
 * Opens the archive of a package: a wheel, whose files are compared with the checksums in its RECORD, or a tarball of npm.
 * https://packaging.python.org/en/latest/specifications/binary-distribution-format/
 */
import { mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import { isObject, parseObject, textOf } from "../json-object.ts";
import { unusableArchive, type ExtractedFile } from "./archive-guard.ts";
import { extractArchive } from "./extract-archive.ts";
import { isKept, isLegalText, isWeightsFile } from "./kept-files.ts";
import { normalizeName, type PackageRequest, type Registry } from "./package-request.ts";

/** A file of a model in a package. */
export interface PackageFile {
  /** Within the model's folder, with slashes. */
  readonly name: string;
  readonly path: string;
}

export interface PackageContents {
  readonly version: string;
  /** As the package declares it; undefined if it does not. */
  readonly license: string | undefined;
  /** The packages that it requires. */
  readonly required: readonly PackageRequest[];
  readonly files: readonly PackageFile[];
}

const longestDescriptionBytes = 16 * 2 ** 20;
const versionIn = /^\(?==\s*([a-z0-9][a-z0-9.!+_-]*)\)?$/i;

/** @param folder to create, for the files */
export async function openPackage(
  registry: Registry,
  archive: string,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<PackageContents> {
  await mkdir(folder, { recursive: true });
  return registry === "pypi" ? openWheel(archive, folder, signal) : openTarball(archive, folder, signal);
}

async function openWheel(archive: string, folder: string, signal: AbortSignal): Promise<PackageContents> {
  const isDescription = ([top = "", name = "", ...rest]: readonly string[]): boolean =>
    top.endsWith(".dist-info") && rest.length === 0 && (name === "METADATA" || name === "RECORD");
  const keep = (segments: readonly string[]): boolean => isKept(segments) || isDescription(segments);
  const files = (await extractArchive("zip", { archive, folder, keep, signal })) ?? [];
  const descriptions = files.filter(({ segments }) => isDescription(segments));
  const pathOf = (wanted: string): string => {
    const [found, ...others] = descriptions.filter(({ segments }) => segments[1] === wanted);
    if (found === undefined || others.length > 0) throw unusableArchive(`a wheel has one ${wanted}, this one does not`);
    return join(folder, ...found.segments);
  };
  compareChecksums(files, await readText(pathOf("RECORD")));
  const fields = parseFields(await readText(pathOf("METADATA")));
  return {
    version: fields.get("version")?.[0] ?? "",
    license: wheelLicense(fields),
    required: (fields.get("requires-dist") ?? []).flatMap(parseRequirement),
    files: modelFiles(
      folder,
      files.map(({ segments }) => segments).filter((segments) => !isDescription(segments)),
      (segments) => segments[0]!.endsWith(".dist-info"),
    ),
  };
}

/** @throws AppError upstream_failed */
function compareChecksums(files: readonly ExtractedFile[], record: string): void {
  const checksums = new Map<string, string>();
  for (const line of record.split(/\r?\n/)) {
    const [, path = "", checksum = ""] = /^(.*),([^,]*),[^,]*$/.exec(line) ?? [];
    checksums.set(path.replace(/^"(.*)"$/, "$1").replaceAll('""', '"'), checksum);
  }
  for (const { segments, sha256 } of files) {
    if (segments[0]!.endsWith(".dist-info") && segments[1] === "RECORD") continue;
    const path = segments.join("/");
    const expected = /^sha256=([\w-]{43})=*$/.exec(checksums.get(path) ?? "")?.[1];
    if (expected === undefined) throw unusableArchive(`its RECORD has no SHA-256 of ${JSON.stringify(path)}`);
    if (Buffer.from(expected, "base64url").toString("hex") !== sha256)
      throw unusableArchive(`${JSON.stringify(path)} does not have the checksum in its RECORD`);
  }
}

/** The fields of METADATA by their names in lower case; they end with the first empty line. */
function parseFields(metadata: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const line of metadata.split(/\r?\n/)) {
    if (line === "") break;
    const [, name, value = ""] = /^([A-Za-z-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const key = name.toLowerCase();
    fields.set(key, [...(fields.get(key) ?? []), value]);
  }
  return fields;
}

function wheelLicense(fields: ReadonlyMap<string, readonly string[]>): string | undefined {
  const declared = fields.get("license-expression")?.[0] ?? fields.get("license")?.[0];
  const classifier = fields.get("classifier")?.find((each) => each.startsWith("License ::"));
  return shownLicense(declared) ?? shownLicense(classifier?.split("::").at(-1));
}

/** Old packages have a whole text there. */
function shownLicense(text: string | undefined): string | undefined {
  const shown = text?.trim().slice(0, 100) ?? "";
  return shown === "" || /^unknown$/i.test(shown) ? undefined : shown;
}

function parseRequirement(text: string): PackageRequest[] {
  const [, name, version = ""] = /^([A-Za-z0-9][\w.-]*)\s*([^;]*)/.exec(text) ?? [];
  if (name === undefined) return [];
  return [{ registry: "pypi", name: normalizeName("pypi", name), version: versionIn.exec(version.trim())?.[1] }];
}

async function openTarball(archive: string, folder: string, signal: AbortSignal): Promise<PackageContents> {
  await extractArchive("tar.gz", { archive, folder, keep: (segments) => isKept(segments), signal });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .split(/[\\/]/),
    );
  const manifestPath = paths.find((segments) => segments.length === 2 && segments[1] === "package.json");
  if (manifestPath === undefined) throw unusableArchive("a package of npm has a package.json, this one does not");
  const manifest = parseObject(await readText(join(folder, ...manifestPath))) ?? {};
  const { license, dependencies, optionalDependencies } = manifest;
  const required = [dependencies, optionalDependencies].filter(isObject).flatMap((each) => Object.entries(each));
  return {
    version: textOf(manifest["version"]),
    license: shownLicense(textOf(isObject(license) ? license["type"] : license)),
    required: required.map(([name, range]) => ({
      registry: "npm" as const,
      name,
      version: /^\d[\w.+-]*$/.exec(textOf(range))?.[0],
    })),
    files: modelFiles(
      folder,
      paths.filter((segments) => segments !== manifestPath),
      () => false,
    ),
  };
}

/**
 * The files in the folder of the weights, and licenses from anywhere. A package without weights, which belongs to others with
 * parts, has all of its files.
 */
function modelFiles(
  folder: string,
  paths: readonly (readonly string[])[],
  isAside: (segments: readonly string[]) => boolean,
): PackageFile[] {
  const own = paths.filter((segments) => !isAside(segments));
  const weights = own.filter((segments) => isWeightsFile(segments.at(-1)!));
  const depth = sharedDepth(weights.length > 0 ? weights : own);
  const base = (weights[0] ?? own[0] ?? []).slice(0, depth);
  const files = new Map<string, string>();
  for (const segments of paths) {
    const isInside = !isAside(segments) && base.every((segment, index) => segments[index] === segment);
    if (!isInside && !isLegalText(segments.at(-1)!)) continue;
    const name = isInside ? segments.slice(depth).join("/") : segments.at(-1)!;
    if (!files.has(name)) files.set(name, join(folder, ...segments));
  }
  return [...files].map(([name, path]) => ({ name, path }));
}

/** How many folders all paths have in common. */
function sharedDepth(paths: readonly (readonly string[])[]): number {
  const [first = []] = paths;
  const most = Math.min(...paths.map((segments) => segments.length - 1), first.length);
  for (let depth = 0; depth < most; depth++)
    if (paths.some((segments) => segments[depth] !== first[depth])) return depth;
  return Math.max(0, most);
}

async function readText(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > longestDescriptionBytes)
      throw new AppError(
        "upstream_failed",
        `The package's description has more than ${longestDescriptionBytes} bytes.`,
      );
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
