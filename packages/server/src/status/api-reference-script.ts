/** The script of the page at `/docs`: Scalar's prebuilt bundle, compressed. docs/adr/0028-client-command-and-pages.md */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

/** Next to this file in the published package, which `scripts/build-packages.ts` writes. */
export const packagedScript = "api-reference-script.js.gz";

export interface ApiReferenceScript {
  readonly compressed: Buffer;
  /** Changes when the script does. */
  readonly version: string;
}

/** Undefined: neither packaged nor installed, as in a copy of the repository without development dependencies. */
export async function readApiReferenceScript(): Promise<ApiReferenceScript | undefined> {
  const compressed = (await readIfThere(new URL(packagedScript, import.meta.url))) ?? (await compressInstalled());
  if (compressed === undefined) return undefined;
  return { compressed, version: createHash("sha256").update(compressed).digest("hex").slice(0, 12) };
}

export async function decompressScript({ compressed }: ApiReferenceScript): Promise<Buffer> {
  return promisify(gunzip)(compressed);
}

async function compressInstalled(): Promise<Buffer | undefined> {
  const script = await readIfThere(installedScript());
  return script === undefined ? undefined : promisify(gzip)(script);
}

function installedScript(): URL | undefined {
  try {
    return new URL("browser/standalone.js", import.meta.resolve("@scalar/api-reference"));
  } catch {
    return undefined;
  }
}

async function readIfThere(file: URL | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
