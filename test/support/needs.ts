/**
 * What tests need beyond `npm ci`, and what a machine is: `{ skip: needs("ffmpeg") }`. A run ends with the number of tests
 * that were skipped for each reason; `npm run test:setup` installs what this table lists.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hasChromium } from "../../packages/console/test/support/chromium.ts";
import { realModels } from "./real-models.ts";
import { findInstallation } from "../../packages/server/src/engines/pocketsphinx/installation.ts";

export interface Software {
  /** Packages of Debian and Ubuntu. */
  readonly debian: readonly string[];
  /** Homebrew's formula, if there is one. */
  readonly brew?: string;
  isThere(): boolean;
}

/** Programs that are in the system's folders even if an ordinary user's PATH does not name these. */
const systemFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/** Where a program of this machine is: tests start it by this path. */
export function pathOf(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...systemFolders];
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

export function hasProgram(name: string): boolean {
  return pathOf(name) !== undefined;
}

function program(name: string, debian: string = name, brew?: string): Software {
  return { debian: [debian], ...(brew === undefined ? {} : { brew }), isThere: () => hasProgram(name) };
}

/** Weights that `npm run test:setup` downloads through pip. */
function model(path: string): Software {
  return { debian: ["python3-pip"], isThere: () => existsSync(path) };
}

const inModules = (path: string): string => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));

/** Python with the SDKs of OpenAI and Anthropic, the AI Refinery SDK, Moto and the schemas of Kubernetes. */
export const python = process.env["SOUNDING_TEST_PYTHON"] ?? inModules(".python/bin/python");
/** Python with instrumentations of AI applications, which need other versions of the same packages. */
export const instrumentedPython =
  process.env["SOUNDING_TEST_INSTRUMENTATIONS"] ?? inModules(".python-instrumentations/bin/python");

/** Python with frameworks of agents as clients, with their own versions of the SDKs. */
export const frameworksPython = process.env["SOUNDING_TEST_FRAMEWORKS"] ?? inModules(".python-frameworks/bin/python");

/** A coding agent of `test/support/agents/package.json`; undefined if it is not installed. */
export function agentProgram(name: string): string | undefined {
  const path = inModules(`.agents/node_modules/.bin/${name}`);
  return existsSync(path) && existsSync(inModules(".agents/installed.json")) ? path : undefined;
}

/** A package of `test/support/agents/package.json`. */
export function agentPackage(name: string): string {
  return inModules(`.agents/node_modules/${name}`);
}

/** Whether `npm run test:setup` got to its end there. A Python that a variable names is trusted. */
function hasEnvironment(path: string): boolean {
  return path.startsWith(inModules("")) ? existsSync(join(path, "../../installed.txt")) : existsSync(path);
}

/** The folder of PostgreSQL's programs, which Debian has in no PATH. */
export function postgresFolder(): string | undefined {
  const [newest] = globSync("/usr/lib/postgresql/*/bin/initdb").sort((left, right) =>
    right.localeCompare(left, "en", { numeric: true }),
  );
  const initdb = newest ?? pathOf("initdb");
  return initdb === undefined ? undefined : dirname(initdb);
}

export function valkeyProgram(): string | undefined {
  return pathOf("valkey-server") ?? pathOf("redis-server");
}

const software = {
  alertmanager: program("prometheus-alertmanager"),
  bzip2: program("bzip2", "bzip2", "bzip2"),
  caddy: program("caddy", "caddy", "caddy"),
  "claude-code": { debian: [], isThere: () => agentProgram("claude") !== undefined },
  codex: { debian: [], isThere: () => agentProgram("codex") !== undefined },
  continue: { debian: [], isThere: () => agentProgram("cn") !== undefined },
  opencode: { debian: [], isThere: () => agentProgram("opencode") !== undefined },
  "openai-agents": { debian: [], isThere: () => existsSync(agentPackage("@openai/agents")) },
  // Where npm's package has none, an installed one.
  chromium: { debian: process.arch === "x64" ? [] : ["chromium"], brew: "google-chrome", isThere: hasChromium },
  curl: program("curl", "curl", "curl"),
  e2fsprogs: program("mkfs.ext4", "e2fsprogs"),
  "espeak-ng": program("espeak-ng", "espeak-ng", "espeak-ng"),
  faketime: {
    debian: ["faketime"],
    isThere: () => globSync("/usr/lib/*/faketime/libfaketimeMT.so.1").length > 0,
  },
  ffmpeg: program("ffmpeg", "ffmpeg", "ffmpeg"),
  fish: program("fish", "fish", "fish"),
  "gemma-3-270m": model(realModels.gemma),
  iproute2: program("ip", "iproute2"),
  jq: program("jq", "jq", "jq"),
  mpg123: program("mpg123", "mpg123", "mpg123"),
  nginx: program("nginx", "nginx", "nginx"),
  openssl: program("openssl", "openssl", "openssl"),
  "opus-tools": program("opusinfo", "opus-tools", "opus-tools"),
  pip: program("pip", "python3-pip"),
  "piper-joe": model(realModels.voice),
  pocketsphinx: {
    debian: ["libpocketsphinx3", "pocketsphinx-en-us"],
    isThere() {
      try {
        findInstallation({ library: undefined, modelDirectory: undefined });
        return true;
      } catch {
        return false;
      }
    },
  },
  pocketsphinx_continuous: program("pocketsphinx_continuous", "pocketsphinx"),
  postgresql: {
    debian: ["postgresql"],
    brew: "postgresql",
    isThere: () => postgresFolder() !== undefined,
  },
  prometheus: {
    debian: ["prometheus"],
    brew: "prometheus",
    isThere: () => hasProgram("prometheus") && hasProgram("promtool"),
  },
  python: { debian: ["python3-venv"], brew: "python", isThere: () => hasEnvironment(python) },
  "python-frameworks": {
    debian: ["python3-venv"],
    brew: "python",
    isThere: () => hasEnvironment(frameworksPython),
  },
  "python-instrumentations": {
    debian: ["python3-venv"],
    brew: "python",
    isThere: () => hasEnvironment(instrumentedPython),
  },
  sox: { debian: ["sox", "libsox-fmt-mp3"], brew: "sox", isThere: () => hasProgram("sox") },
  systemd: program("systemd-analyze", "systemd"),
  valkey: {
    debian: ["redis-server"],
    brew: "valkey",
    isThere: () => valkeyProgram() !== undefined,
  },
  "whisper-tiny.en": model(realModels.whisper),
  zsh: program("zsh", "zsh", "zsh"),
} satisfies Record<string, Software>;

export type SoftwareName = keyof typeof software;

export const allSoftware: ReadonlyMap<string, Software> = new Map(Object.entries(software));

const known = new Map<string, boolean>();

/** The reason to skip a test that runs with all of these; false if this machine has them. */
export function needs(...names: readonly SoftwareName[]): string | false {
  const missing = [...allSoftware.keys()].filter((name) => names.includes(name as SoftwareName) && !isThere(name));
  return missing.length === 0 ? false : `needs ${missing.join(", ")}`;
}

function isThere(name: string): boolean {
  let there = known.get(name);
  if (there === undefined) known.set(name, (there = allSoftware.get(name)!.isThere()));
  return there;
}

/** The reason to skip a test of what only Linux has. */
export const onlyOnLinux: string | false = process.platform === "linux" ? false : "runs only on Linux";

/** The reason to skip a test of files that only their owner may read. */
export const onlyAsUser: string | false =
  process.getuid?.() === 0 ? "runs only as an ordinary user: root may read every file" : false;

let isPrivileged: boolean | undefined;

/**
 * The reason to skip a test that mounts disks or makes networks, which containers often refuse root too. A function, because
 * only a trial shows it, and most files import this module for other reasons.
 */
export function onlyAsRoot(): string | false {
  isPrivileged ??= spawnSync("unshare", ["--mount", "--net", "true"]).status === 0;
  return isPrivileged ? false : "runs only as root on Linux, with all capabilities";
}
