/**
 * Finds PocketSphinx and its US English model on this machine: packages of Debian and Ubuntu, or a library built by the
 * user. https://cmusphinx.github.io/
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
}

interface Places {
  readonly library: string | undefined;
  readonly modelDirectory: string | undefined;
  /** Prefix of every path; for tests. */
  readonly root?: string;
}

/** What Debian and Ubuntu call them; the second needs the first's library only in one of their releases. */
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

/** @throws AppError overloaded, with the missing packages and how to install them */
export function findInstallation({ library, modelDirectory, root = "" }: Places): Installation {
  const found = library ?? libraryPaths(root).find((path) => existsSync(path));
  if (found === undefined || !existsSync(found)) throw missing("The PocketSphinx library", library);
  const directory = modelDirectory ?? modelDirectories(root).find((path) => existsSync(path));
  if (directory === undefined) throw missing("PocketSphinx's US English model", undefined);
  const installation: Installation = {
    library: found,
    baseLibrary: baseNames.map((name) => join(dirname(found), name)).find((path) => existsSync(path)),
    acousticModel: join(directory, "en-us"),
    languageModel: join(directory, "en-us.lm.bin"),
    dictionary: join(directory, "cmudict-en-us.dict"),
  };
  const { acousticModel, languageModel, dictionary } = installation;
  const absent = [acousticModel, languageModel, dictionary].find((path) => !existsSync(path));
  if (absent !== undefined) throw missing(`PocketSphinx's US English model (${basename(absent)})`, directory);
  return installation;
}

function missing(what: string, where: string | undefined): AppError {
  const place = where === undefined ? "on this machine" : `at ${where}`;
  return new AppError(
    "overloaded",
    `${what} is not installed ${place}. On Debian and Ubuntu: apt-get install ${debianPackages.join(" ")}.`,
  );
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
