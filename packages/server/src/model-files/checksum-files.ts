/** Verifies the checksums that are among the files of a model: `SHA256SUMS`, and `NAME.sha256`. */
import { open } from "node:fs/promises";
import { join, posix } from "node:path";
import { unusableArchive } from "./archive-guard.ts";
import { sha256Of } from "./file-checksum.ts";
import { isWeightsFile } from "./kept-files.ts";

const listName = /^(?:sha256sums(?:\.txt)?|(?<stem>.+)\.sha256)$/i;
const line = /^(?<sha256>[0-9a-f]{64})(?:\s+\*?(?<file>.+))?$/i;
const longestListBytes = 2 ** 20;

interface Checksum {
  readonly sha256: string;
  /** Within the model's folder; undefined if the list does not say. */
  readonly file: string | undefined;
  /** What the list is called, `NAME` of `NAME.sha256`. */
  readonly stem: string | undefined;
}

/**
 * Files that a list names and that were not kept are ignored.
 * @param names of the files in the folder, with slashes
 * @returns the names of lists with a checksum alone, by the files that have it
 * @throws AppError upstream_failed, or the signal's reason
 */
export async function verifyChecksums(
  folder: string,
  names: readonly string[],
  { signal, onBytes }: { readonly signal: AbortSignal; onBytes(count: number): void },
): Promise<ReadonlyMap<string, string>> {
  const checksums: Checksum[] = [];
  for (const name of names) if (listName.test(posix.basename(name))) checksums.push(...(await readList(folder, name)));
  const known = new Map<string, Promise<string>>();
  const hashOf = (name: string): Promise<string> => {
    signal.throwIfAborted();
    const hash = known.get(name) ?? sha256Of(join(folder, name), onBytes);
    known.set(name, hash);
    return hash;
  };
  const named = new Map<string, string>();
  for (const checksum of checksums) {
    const file = fileOf(checksum, names);
    if (file === undefined) continue;
    if ((await hashOf(file)) !== checksum.sha256)
      throw unusableArchive(`${JSON.stringify(file)} does not have the checksum ${checksum.sha256} that is next to it`);
    if (checksum.file === undefined && checksum.stem !== undefined) named.set(file, checksum.stem);
  }
  return named;
}

async function readList(folder: string, name: string): Promise<Checksum[]> {
  const file = await open(join(folder, name));
  try {
    const { size } = await file.stat();
    if (size > longestListBytes)
      throw unusableArchive(`${JSON.stringify(name)} has more than ${longestListBytes} bytes`);
    const stem = listName.exec(posix.basename(name))?.groups?.["stem"];
    return (await file.readFile("utf8")).split(/\r?\n/).flatMap((text) => {
      const { sha256, file: listed } = line.exec(text.trim())?.groups ?? {};
      if (sha256 === undefined) return [];
      const path = listed === undefined ? undefined : posix.join(posix.dirname(name), listed);
      return [{ sha256: sha256.toLowerCase(), file: path, stem }];
    });
  } finally {
    await file.close();
  }
}

/** The file by its path, else by its name; of a checksum alone the file with the list's name, else the only weights. */
function fileOf({ file, stem }: Checksum, names: readonly string[]): string | undefined {
  const called = (name: string): string | undefined => names.find((each) => posix.basename(each) === name);
  if (file !== undefined) return names.includes(file) ? file : called(posix.basename(file));
  const [only, ...others] = names.filter((name) => isWeightsFile(name));
  const byStem = names.find((name) => isWeightsFile(name) && posix.parse(name).name === stem);
  return called(stem ?? "") ?? byStem ?? (others.length === 0 ? only : undefined);
}
