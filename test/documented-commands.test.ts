/** Every command of the documents works as printed: each runs, page by page, or is listed with the reason why it does not. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { startScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { embedNumbers } from "./support/embedding-upstream.ts";
import { startServer, untilTelemetryReady } from "./support/running-server.ts";
import { repository } from "./support/served-process.ts";
import { needs } from "./support/needs.ts";
import { childEnvironment } from "./support/child-environment.ts";
import { command } from "./support/command.ts";

const run = promisify(execFile);

/** Commands that no test can run as printed, by their beginning. */
const notRun: Readonly<Record<string, string>> = {
  "npm ci && npm start": "the suite has installed the packages; test/quick-start.test.ts starts the server",
  "npm ci && npm test": "this is the test",
  "npx @sounding/cli serve": "the package is not published; test/packages.test.ts installs and starts it",
  "npm ci\nnpm run build": "test/packages.test.ts does the same in other folders",
  "npm run build": "test/packages.test.ts does the same in other folders",
  "sounding serve": "does not end; test/quick-start.test.ts starts the server",
  "sounding login --device": "waits for a person; packages/server/test/sign-in/terminals.test.ts has one",
  "sounding sessions end": "needs a session of a person; test/sign-in-to-audit-log.test.ts has two",
  "sounding member set bob@example.com -o default": "needs a person; test/sign-in-to-audit-log.test.ts has one",
  "sounding audit verify --local":
    "needs a control database on this machine; packages/cli/test/administration-commands.test.ts has one",
  "llama-server": "is a program of its own",
  "sounding login\n": "asks for the key in a terminal; packages/cli/test/login.test.ts answers",
  "curl http://127.0.0.1:4141/v1/audio/translations":
    "needs an upstream that translates; test/translations.test.ts has one",
  "sounding chat --model big": "a conversation; packages/cli/test/chat-session.test.ts has one",
  "sounding speak 'A fathom": "needs an audio device; packages/cli/test/speak.test.ts has a player",
  "sounding chat what is a fathom | sounding speak --play": "needs an audio device",
  "sounding transcribe --mic": "needs a microphone; packages/cli/test/transcribe.test.ts has a recorder",
  "sounding logs --follow": "does not end; packages/cli/test/telemetry.test.ts interrupts it",
  "sounding voices --play": "needs an audio device",
  "sounding voices --model kokoro-en --play": "needs a download and an audio device",
  "sounding models available\nsounding models pull": "downloads",
  "sounding models pull": "downloads; packages/server/test/files/pull.test.ts has a server",
  "npx sounding models pull": "downloads",
  "sounding models add": "needs files; packages/server/test/files/packages.test.ts has some",
  "npm pkg delete": "changes this repository",
  "apt-get install": "changes the machine",
  "export LOKI_ADDR": "logcli has no package that tests could install",
  "sounding backup": "needs an installation of its own; test/backup.test.ts has several",
  "sounding restore": "needs an installation of its own; test/backup.test.ts has several",
  "sounding move": "needs an installation of its own; test/move.test.ts has several",
  "sounding migrate": "needs an installation of its own; test/backup.test.ts has several",
  "sounding spend check": "needs an export of a vendor; packages/cli/test/spend.test.ts has several",
  "sounding spend --by organization": "needs an operator key; packages/cli/test/spend.test.ts has one",
  "sounding demo --clear": "runs last, in packages/cli/test/demo.test.ts",
};

interface DocumentedCommand {
  readonly file: string;
  readonly code: string;
}

/** The commands of a page. Blank lines separate commands that do not depend on each other. */
async function commandsOf(file: string): Promise<DocumentedCommand[]> {
  const text = await readFile(join(repository, file), "utf8");
  return [...text.matchAll(/^```sh\n(?<code>.*?)^```$/gms)].flatMap(({ groups }) =>
    groups!["code"]!.split("\n\n").map((code) => ({ file, code: `${code.replace(/^#.*\n/, "").trimEnd()}\n` })),
  );
}

const pages = (await readdir(join(repository, "docs"), { recursive: true })).filter((name) => name.endsWith(".md"));
const files = ["README.md", "packages/cli/README.md", ...pages.sort().map((name) => `docs/${name}`)];
const commands = (await Promise.all(files.map(commandsOf))).flat();

/** Where a program of this machine is; undefined if it is not installed. */
async function pathOf(program: string): Promise<string | undefined> {
  const { stdout } = await run("bash", ["-c", `command -v ${program} || true`]);
  return stdout.trim() || undefined;
}

const programs = {
  curl: await pathOf("curl"),
  ffmpeg: await pathOf("ffmpeg"),
  git: await pathOf("git"),
  jq: await pathOf("jq"),
};

/** Why a command cannot run on this machine. */
function missingFor(code: string): string | false {
  const isNamed = (program: string): boolean => new RegExp(`\\b${program}\\b`).test(code);
  const programs = (["curl", "ffmpeg", "jq"] as const).filter(isNamed);
  return needs(...programs, ...(/transcri/.test(code) ? (["pocketsphinx"] as const) : []));
}

const folder = await mkdtemp(join(tmpdir(), "sounding-documented-"));
const upstream = await startScriptedUpstream(embedNumbers("base64"));
const embedders = `{ type: openai_compatible, base_url: "${upstream.url}/v1", models: [text-embedding-3-small] }`;
const server = await startServer(`engines: { embedders: ${embedders} }`, { telemetry: true });
after(async () => {
  await server[Symbol.asyncDispose]();
  await upstream.close();
  await rm(folder, { recursive: true, force: true });
});
await untilTelemetryReady(server);

/**
 * Runs code in the pages' folder, with the addresses, keys and identifiers of the test's server. Each page has its own
 * organization, since several create one of the same name.
 */
async function shell(code: string, file = ""): Promise<string> {
  const script = code
    .replaceAll(/https:\/\/sounding\.example\.com|http:\/\/127\.0\.0\.1:4141/g, server.url)
    .replace("SOUNDING_ADMIN_KEY=sk-…", `SOUNDING_ADMIN_KEY=${server.operatorKey}`)
    .replaceAll("sk-…", server.key)
    .replace(/key_[0-9a-f]{32}/, "$(sounding key list -o acme --json | grep -o 'key_[0-9a-f]*' | head -n 1)")
    .replace(/\b5b8efff79[0-9a-f]*/, "$(sounding traces --project demo --json | grep -oE '[0-9a-f]{32}' | head -n 1)")
    .replaceAll(/\bacme\b/g, `acme-${files.indexOf(file)}`);
  const env = {
    ...childEnvironment,
    PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
    HOME: folder,
    SOUNDING_BASE_URL: server.url,
    SOUNDING_API_KEY: server.key,
    SOUNDING_ADMIN_KEY: server.operatorKey,
  };
  const words = ["-euo", "pipefail", "-c", script];
  const running = run("bash", words, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
  running.child.stdin!.end();
  return (await running).stdout;
}

async function prepareFolder(): Promise<void> {
  await mkdir(join(folder, "bin"));
  await mkdir(join(folder, ".config/fish/completions"), { recursive: true });
  const scripts = {
    node: `exec "${process.execPath}" "$@"`,
    sounding: `exec "${process.execPath}" "${command}" "$@"`,
    npx: 'exec "$@"',
    curl: `exec ${programs.curl} --silent --show-error --fail-with-body "$@"`,
    // Pages that convert a recording do not know that another page has done so.
    ffmpeg: `exec ${programs.ffmpeg} -y -v error "$@"`,
  };
  for (const [name, line] of Object.entries(scripts)) {
    await writeFile(join(folder, "bin", name), `#!/bin/sh\n${line}\n`);
    await chmod(join(folder, "bin", name), 0o755);
  }
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "sounding.yaml"), "");
  await writeFile(join(folder, "key.txt"), server.key);
  const page = await readFile(join(repository, "docs/observability/send-telemetry.md"), "utf8");
  await writeFile(join(folder, "app.mjs"), /^```js\n(?<code>.*?)^```$/ms.exec(page)!.groups!["code"]!);
  await shell("sounding speak --voice rms -o talk.wav 'Good morning.' && sounding speak -o hello.mp3 'Good morning.'");
  if (programs.ffmpeg !== undefined) await shell("ffmpeg -i talk.wav talk.m4a && ffmpeg -i talk.wav talk.wma");
  await shell("sounding demo");
  if (programs.git !== undefined) await shell("git init --quiet .");
}
await prepareFolder();

describe("a documented command works as printed", { timeout: 900_000 }, () => {
  for (const { file, code } of commands) {
    if (Object.keys(notRun).some((start) => code.startsWith(start))) continue;
    test(`${file}: ${code.split("\n", 1)[0]!.slice(0, 70)}`, { skip: missingFor(code) }, async () => {
      await shell(code, file);
    });
  }
});

test("every reason why a command does not run is about a command", () => {
  const unused = Object.keys(notRun).filter((start) => !commands.some(({ code }) => code.startsWith(start)));
  assert.deepEqual(unused, []);
});
