/**
 * Finds the data of espeak-ng, with which voices turn text into phonemes: in the model's data directory, where the system has
 * it, or in the npm package, from which it is unpacked once.
 */
import { constants } from "node:fs";
import { access, chmod, mkdir, mkdtemp, open, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../errors.ts";
import { isSafePath } from "./member-names.ts";

const folderName = "espeak-ng-data";
/** Without these espeak-ng does not start. */
const requiredFiles = ["phontab", "phonindex", "phondata", "intonations", "en_dict"];
const systemFolders = [
  "/usr/share",
  "/usr/lib",
  "/usr/local/share",
  "/usr/local/lib",
  "/opt/homebrew/share",
  "C:\\Program Files\\eSpeak NG",
];
/** A file in the package's data, as the package's loader lists it. */
const listedFile = /filename:"\/usr\/share\/espeak-ng-data\/([^"]{1,200})",start:(\d{1,12}),end:(\d{1,12})/g;

/**
 * The folder with the data.
 * @param system folders in which the system may have it
 * @throws AppError upstream_failed if this machine has none
 */
export async function findEspeakData(dataDirectory: string, system?: readonly string[]): Promise<string> {
  const own = join(dataDirectory, folderName);
  if (await isComplete(own)) return own;
  for (const folder of system ?? (await systemPlaces())) if (await isComplete(folder)) return folder;
  return unpackPackage(own);
}

/** Debian's libraries are in a folder of the machine's kind, such as `x86_64-linux-gnu`. */
async function systemPlaces(): Promise<string[]> {
  const kinds = (await readdir("/usr/lib").catch(() => [])).filter((name) => /-linux-(?:gnu|musl)\w*$/.test(name));
  return [...systemFolders, ...kinds.map((kind) => join("/usr/lib", kind))].map((folder) => join(folder, folderName));
}

async function isComplete(folder: string): Promise<boolean> {
  const checks = requiredFiles.map((name) => access(join(folder, name), constants.R_OK));
  return Promise.all(checks).then(
    () => true,
    () => false,
  );
}

async function unpackPackage(target: string): Promise<string> {
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(`${target}-`);
  try {
    await unpackTo(folder);
    // As for every file that was unpacked: the server may run as another user.
    await chmod(folder, 0o755);
    // Another process may have been faster.
    await rename(folder, target).catch(async (error: unknown) => {
      if (!(await isComplete(target))) throw error;
    });
    return target;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw missing(cause);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The package's code is read as text, never run. */
async function unpackTo(folder: string): Promise<void> {
  const script = packageFile("espeak-ng.js");
  if (script === undefined) throw missing(undefined);
  const listed = [...(await readFile(script, "utf8")).matchAll(listedFile)];
  const data = await open(join(dirname(script), "espeak-ng.data"));
  try {
    const { size } = await data.stat();
    for (const [, path = "", from, to] of listed) {
      const [start, end] = [Number(from), Number(to)];
      const segments = path.split("/");
      if (!isSafePath(segments) || start > end || end > size) throw new Error(`the package lists ${path} wrongly`);
      const { buffer } = await data.read(Buffer.alloc(end - start), 0, end - start, start);
      await mkdir(join(folder, ...segments.slice(0, -1)), { recursive: true });
      await writeFile(join(folder, ...segments), buffer);
    }
  } finally {
    await data.close();
  }
  if (!(await isComplete(folder))) throw new Error("the package's data is incomplete");
}

function packageFile(name: string): string | undefined {
  try {
    return join(dirname(fileURLToPath(import.meta.resolve("@echogarden/espeak-ng-emscripten"))), name);
  } catch {
    return undefined;
  }
}

function missing(cause: unknown): AppError {
  return new AppError(
    "upstream_failed",
    "The voice needs the data of espeak-ng, which this machine does not have. Install espeak-ng (Debian: apt-get install espeak-ng-data), or the npm package @echogarden/espeak-ng-emscripten.",
    { cause, lasting: true },
  );
}
