/**
 * Fetches Debian's PocketSphinx packages and unpacks them into a folder, without root: apt uses the machine's sources and
 * keys, but lists, cache and configuration of its own, and the packages' scripts do not run.
 */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram, type ProgramResult } from "../../child-process/run-program.ts";
import { packageManagerEnvironment } from "../../config/package-manager.ts";
import { debianPackages } from "./installation.ts";

type Run = (program: string, words: readonly string[], timeoutMs: number) => Promise<ProgramResult>;

export interface PackageSource {
  readonly signal: AbortSignal;
  /** Called before each step with what it does. */
  readonly onStep: (step: string) => void;
}

/**
 * What the recognizer loads, except the C library. Debian also lists PulseAudio, which only the part for microphones needs.
 * Architectures without quadruple precision have no libquadmath0.
 */
const neededPackages = [
  ...debianPackages,
  "libsphinxbase3",
  "libblas3",
  "liblapack3",
  "libgfortran5",
  "libquadmath0",
] as const;

const listsTimeoutMs = 180_000;
const downloadTimeoutMs = 600_000;
const shortTimeoutMs = 60_000;

/**
 * Overrides the machine's settings of apt: no hooks, which would change the machine or report to the desktop, and only the
 * lists of packages. Root downloads as root, because the data directory is closed to apt's own user.
 */
const aptSettings = `
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::GzipIndexes "true";
Acquire::Retries "1";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb-src::Sources::DefaultEnabled "false";
`;

/**
 * Unpacks the packages into `directory`/root.
 * @returns that folder
 * @throws Error, whose message says what went wrong
 */
export async function unpackDebianPackages(directory: string, { signal, onStep }: PackageSource): Promise<string> {
  const folders = ["apt/lists/partial", "apt/archives/partial", "packages", "root"];
  for (const folder of folders) await mkdir(join(directory, folder), { recursive: true });
  await writeFile(join(directory, "apt.conf"), aptSettings);
  const packages = join(directory, "packages");
  const run: Run = async (program, words, timeoutMs) =>
    runProgram(program, words, { directory: packages, environment: packageManagerEnvironment(), timeoutMs, signal });
  const apt: Run = async (program, words, timeoutMs) => run(program, [...aptOptions(directory), ...words], timeoutMs);

  onStep("reading the package lists");
  const available = await findPackages(apt);
  const bytes = [...available.values()].reduce((sum, size) => sum + size, 0);
  onStep(`downloading ${available.size} packages (${(bytes / 1e6).toFixed(0)} MB)`);
  requireSuccess(await apt("apt-get", ["download", ...available.keys()], downloadTimeoutMs));
  const root = join(directory, "root");
  for (const file of await readdir(packages)) {
    requireSuccess(await run("dpkg-deb", ["--extract", file, root], shortTimeoutMs));
  }
  // Whole on disk before it gets its name.
  requireSuccess(await run("sync", ["--file-system", root], shortTimeoutMs));
  return root;
}

function aptOptions(directory: string): string[] {
  const settings = [
    `Dir::State=${directory}/apt`,
    "Dir::State::lists=lists/",
    `Dir::Cache=${directory}/apt`,
    "Dir::Cache::archives=archives/",
    "Dir::Cache::pkgcache=packages.bin",
    "Dir::Cache::srcpkgcache=sources.bin",
    `Dir::Log=${directory}/apt`,
  ];
  return ["-c", join(directory, "apt.conf"), ...settings.flatMap((setting) => ["-o", setting])];
}

/** Which of the needed packages this release has, with their sizes in bytes. @throws Error */
async function findPackages(apt: Run): Promise<Map<string, number>> {
  // One unreachable source of many is not a problem if the others have the packages.
  const problem = firstProblem(await apt("apt-get", ["update"], listsTimeoutMs));
  const show = ["show", "--no-all-versions", ...neededPackages];
  const records = (await apt("apt-cache", show, shortTimeoutMs)).output.split("\n\n");
  const available = new Map<string, number>();
  for (const record of records) {
    const name = /^Package: (.+)$/m.exec(record)?.[1];
    if (name !== undefined) available.set(name, Number(/^Size: (\d+)$/m.exec(record)?.[1] ?? 0));
  }
  const absent = debianPackages.filter((name) => !available.has(name));
  if (absent.length > 0) throw new Error(problem ?? `The sources of apt have no package ${absent.join(" or ")}.`);
  return available;
}

function requireSuccess(result: ProgramResult): void {
  if (result.problem !== undefined) throw new Error(firstProblem(result));
}

/** apt reports an unreachable server as a warning. */
function firstProblem({ errors, problem }: ProgramResult): string | undefined {
  return /^[EW]: (.*)$/m.exec(errors)?.[1] ?? problem;
}
