/**
 * Finds PocketSphinx and its US English model: in the data directory, in packages of Debian and Ubuntu, or as a library
 * built by the user. https://cmusphinx.github.io/
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AppError } from "../../errors.ts";

export interface Installation {
  /** Path of the library. */
  readonly library: string;
  /** Path of the second library, which contains some of the functions in releases before 5. */
  readonly baseLibrary: string | undefined;
  /** Folder of the acoustic model. */
  readonly acousticModel: string;
  readonly languageModel: string;
  readonly dictionary: string;
  /** Folders of an unpacked copy in which the loader must look for what the library needs. */
  readonly loaderFolders: readonly string[];
}

interface Places {
  readonly library: string | undefined;
  readonly modelDirectory: string | undefined;
  /** Where the server keeps its files, and maybe an unpacked copy of the packages. It is preferred to the system's. */
  readonly dataDirectory?: string | undefined;
  /** The root of the file system that is searched; a folder with unpacked packages, or a test's. */
  readonly root?: string;
}

/** What Debian and Ubuntu call them. */
export const debianPackages = ["libpocketsphinx3", "pocketsphinx-en-us"] as const;

const libraryNames = [
  "libpocketsphinx.so.3",
  "libpocketsphinx.so.5",
  "libpocketsphinx.so",
  "libpocketsphinx.5.dylib",
  "libpocketsphinx.dylib",
];
const baseNames = ["libsphinxbase.so.3", "libsphinxbase.so"];
const prefixes = ["/usr", "/usr/local", "/opt/homebrew"];

/** How to get transcription where PocketSphinx cannot be unpacked. */
export const otherWays =
  "To add transcription, pull a model, for example `sounding models pull whisper-tiny.en`, " +
  `or have an administrator run \`apt-get install ${debianPackages.join(" ")}\`.`;

/** The folder of the unpacked packages in a data directory. */
export function unpackedFolder(dataDirectory: string): string {
  return join(dataDirectory, "pocketsphinx");
}

/** @throws AppError overloaded, with what is missing and how to add it */
export function findInstallation({ library, modelDirectory, dataDirectory, root = "" }: Places): Installation {
  const roots = [...(dataDirectory === undefined ? [] : [unpackedFolder(dataDirectory)]), root];
  const found = library ?? roots.flatMap(libraryPaths).find((path) => existsSync(path));
  if (found === undefined || !existsSync(found)) throw missing("The PocketSphinx library", library);
  const directory = modelDirectory ?? roots.flatMap(modelDirectories).find((path) => existsSync(path));
  if (directory === undefined) throw missing("PocketSphinx's US English model", undefined);
  const installation: Installation = {
    library: found,
    baseLibrary: baseNames.map((name) => join(dirname(found), name)).find((path) => existsSync(path)),
    acousticModel: join(directory, "en-us"),
    languageModel: join(directory, "en-us.lm.bin"),
    dictionary: join(directory, "cmudict-en-us.dict"),
    loaderFolders: roots.some((each) => each !== "" && found.startsWith(each)) ? loaderFolders(dirname(found)) : [],
  };
  const { acousticModel, languageModel, dictionary } = installation;
  const absent = [acousticModel, languageModel, dictionary].find((path) => !existsSync(path));
  if (absent !== undefined) throw missing(`PocketSphinx's US English model (${basename(absent)})`, directory);
  return installation;
}

function missing(what: string, where: string | undefined): AppError {
  const place = where === undefined ? "on this machine" : `at ${where}`;
  return new AppError("overloaded", `${what} is not installed ${place}. ${otherWays}`);
}

/** Debian has BLAS and LAPACK in folders of their own, to which the system's packages add links. */
function loaderFolders(folder: string): string[] {
  return [folder, join(folder, "blas"), join(folder, "lapack")].filter((path) => existsSync(path));
}

function libraryPaths(root: string): string[] {
  const folders = prefixes.flatMap((prefix) => {
    const lib = join(root, prefix, "lib");
    return [...multiArchFolders(lib), `${lib}64`, lib];
  });
  return folders.flatMap((folder) => libraryNames.map((name) => join(folder, name)));
}

/** Debian keeps libraries of an architecture in a folder such as `x86_64-linux-gnu`. https://wiki.debian.org/Multiarch */
function multiArchFolders(lib: string): string[] {
  const architecture = architectures[process.arch];
  if (architecture === undefined || !existsSync(lib)) return [];
  const names = readdirSync(lib).filter((name) => name.startsWith(`${architecture}-linux-`));
  return names.map((name) => join(lib, name));
}

const architectures: Partial<Record<NodeJS.Architecture, string>> = {
  x64: "x86_64",
  arm64: "aarch64",
  arm: "arm",
  ia32: "i386",
  riscv64: "riscv64",
  ppc64: "powerpc64le",
  loong64: "loongarch64",
  s390x: "s390x",
};

function modelDirectories(root: string): string[] {
  return prefixes.map((prefix) => join(root, prefix, "share/pocketsphinx/model/en-us"));
}
