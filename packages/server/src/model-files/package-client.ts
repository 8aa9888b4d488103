/**
 * Fetches the archive of a package with the registry's client that this machine has: mirrors, proxies and credentials are
 * those of the client. Nothing of the package is built, installed or run.
 */
import { lstat, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { runProgram, type ProgramResult } from "../child-process/run-program.ts";
import { AppError } from "../errors.ts";
import { writableBytes } from "./extract-archive.ts";
import { normalizeName, showPackage, type PackageRequest, type Registry } from "./package-request.ts";

export interface PackageClientOptions {
  /** That of the user, in which the client finds its configuration. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Called with the bytes on the disk so far. */
  onBytes?(count: number): void;
  /** Longest time without new bytes. */
  readonly idleTimeoutMs?: number | undefined;
}

const usualIdleTimeoutMs = 300_000;
const lookIntervalMs = 250;
/** The idle time is what ends a client that is stuck. */
const longestRunMs = 24 * 3_600_000;

interface Client {
  /** Ways to start it, in order. */
  readonly programs: readonly (readonly string[])[];
  readonly label: string;
  argumentsFor(request: PackageRequest, folder: string): readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly archive: RegExp;
  readonly absent: RegExp;
}

/** Only wheels: of any other archive pip runs the build script, even to download it. */
const pipWords =
  "download --no-deps --only-binary :all: --ignore-requires-python --no-cache-dir --no-input --disable-pip-version-check --progress-bar off";

const clients: Readonly<Record<Registry, Client>> = {
  pypi: {
    programs: [["pip"], ["pip3"], ["python3", "-m", "pip"], ["python", "-m", "pip"], ["py", "-m", "pip"]],
    label: "pip",
    argumentsFor: ({ name, version }, folder) => [
      ...pipWords.split(" "),
      "--dest",
      folder,
      version === undefined ? name : `${name}==${version}`,
    ],
    environment: { PIP_NO_INPUT: "1" },
    archive: /\.whl$/,
    absent: /No matching distribution found/,
  },
  npm: {
    programs: [["npm"]],
    label: "npm",
    argumentsFor: ({ name, version = "latest" }, folder) => [
      ..."pack --ignore-scripts --loglevel=error --no-update-notifier --pack-destination".split(" "),
      folder,
      `${name}@${version}`,
    ],
    environment: {},
    archive: /\.tgz$/,
    absent: /\b(?:E404|ETARGET)\b/,
  },
};
/** Failures that pip reports in the same words as a package that does not exist. */
const unreachable = /Retrying \(|ConnectionError|ProxyError|SSLError|CERTIFICATE_VERIFY_FAILED|timed out|\b40[137]\b/;

/**
 * The path of the archive, in `folder`, which is created.
 * @throws AppError not_found, upstream_failed or upstream_timeout; the signal's reason when aborted
 */
export async function fetchPackage(
  request: PackageRequest,
  folder: string,
  options: PackageClientOptions,
): Promise<string> {
  const client = clients[request.registry];
  const target = join(folder, "archive");
  const temporary = join(folder, "temporary");
  await mkdir(target, { recursive: true });
  await mkdir(temporary, { recursive: true });
  const words = client.argumentsFor(request, target);
  const { problem, errors } = await runWatched(client, words, { target, temporary, options });
  if (problem !== undefined) throw clientFailure(request, client, `${problem}\n${errors}`);
  const [name, ...others] = (await readdir(target)).filter((each) => client.archive.test(each));
  if (name === undefined || others.length > 0 || !isNamed(name, request))
    throw new AppError("upstream_failed", `${client.label} did not download the archive of ${showPackage(request)}.`);
  return join(target, name);
}

/** The name of an archive begins with that of its package; npm writes `@scope/name` as `scope-name`. */
function isNamed(file: string, { registry, name }: PackageRequest): boolean {
  if (registry === "npm") return file.startsWith(`${name.replace(/^@/, "").replace("/", "-")}-`);
  return normalizeName(registry, file.split("-")[0]!) === name;
}

interface Watch {
  readonly target: string;
  readonly temporary: string;
  readonly options: PackageClientOptions;
}

async function runWatched(client: Client, words: readonly string[], watch: Watch): Promise<ProgramResult> {
  const { target, temporary, options } = watch;
  const stop = new AbortController();
  const mostBytes = await writableBytes(target);
  const idleTimeoutMs = options.idleTimeoutMs ?? usualIdleTimeoutMs;
  let [bytes, changedMs] = [0, performance.now()];
  const look = async (): Promise<void> => {
    // What has been downloaded is copied, or moved.
    const now = Math.max(await bytesIn(temporary), await bytesIn(target));
    if (now !== bytes) [bytes, changedMs] = [now, performance.now()];
    options.onBytes?.(bytes);
    if (bytes > mostBytes)
      stop.abort(
        new AppError(
          "upstream_failed",
          `The package needs more than ${mostBytes} bytes, which is the limit on this disk.`,
        ),
      );
    else if (performance.now() - changedMs > idleTimeoutMs)
      stop.abort(new AppError("upstream_timeout", `${client.label} received nothing for ${idleTimeoutMs} ms.`));
  };
  const timer = setInterval(() => void look().catch(() => {}), lookIntervalMs);
  try {
    return await runFirst(client, words, {
      directory: process.cwd(),
      environment: environmentOf(client, options, temporary),
      timeoutMs: longestRunMs,
      signal: AbortSignal.any([options.signal, stop.signal]),
    });
  } finally {
    clearInterval(timer);
  }
}

function environmentOf(
  client: Client,
  { environment }: PackageClientOptions,
  temporary: string,
): Record<string, string> {
  const given = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...Object.fromEntries(given),
    ...client.environment,
    NO_COLOR: "1",
    TMPDIR: temporary,
    TEMP: temporary,
    TMP: temporary,
  };
}

/** With the first of its programs that this machine has. */
async function runFirst(
  { programs, label }: Client,
  words: readonly string[],
  run: Parameters<typeof runProgram>[2],
): Promise<ProgramResult> {
  for (const [program = "", ...before] of programs) {
    try {
      const result = await runProgram(program, [...before, ...words], run);
      if (result.problem !== undefined && /No module named pip\b/.test(result.errors)) continue;
      return result;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new AppError(
    "upstream_failed",
    `The program ${label} is not installed, or not in PATH; packages are downloaded with it.`,
  );
}

function clientFailure(request: PackageRequest, { label, absent }: Client, output: string): AppError {
  const what = showPackage(request);
  const cause = new Error(output);
  if (absent.test(output) && !unreachable.test(output)) {
    const note = request.registry === "pypi" ? ", or has no wheel" : "";
    return new AppError("not_found", `The package ${what} does not exist in the registry that ${label} uses${note}.`, {
      cause,
    });
  }
  return new AppError("upstream_failed", `${label} could not download ${what}: ${lastWords(output)}`, { cause });
}

/** The end of what the client wrote, without passwords in addresses. */
function lastWords(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => line.replace(/^(?:ERROR:|npm (?:error|ERR!))\s*/, "").trim())
    .filter((line) => line !== "" && !/A complete log of this run|debug-\d/.test(line));
  return lines
    .slice(-3)
    .join(" ")
    .replace(/\/\/[^/\s@]*@/g, "//")
    .slice(0, 500);
}

/** Files come and go meanwhile. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      lstat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
