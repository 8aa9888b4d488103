/** A server without the optional npm packages of local engines: Node's resolver does not find them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { repository, serveProcess } from "./support/served-process.ts";
import { beforeTests } from "./support/hooks.ts";
import { childEnvironment } from "./support/child-environment.ts";
import { sourceCommand } from "./support/command.ts";

const { peerDependencies } = JSON.parse(readFileSync(join(repository, "packages/server/package.json"), "utf8")) as {
  peerDependencies: Record<string, string>;
};
const commands = Object.entries(peerDependencies).map(([name, version]) => `npm install ${name}@${version}`);

const hooks = `import { registerHooks } from "node:module";
const absent = ${JSON.stringify(Object.keys(peerDependencies))};
registerHooks({ resolve(specifier, context, next) {
  if (!absent.some((name) => specifier === name || specifier.startsWith(name + "/"))) return next(specifier, context);
  throw Object.assign(new Error("Cannot find package " + specifier), { code: "ERR_MODULE_NOT_FOUND" });
} });`;
const nodeOptions = ["--import", `data:text/javascript,${encodeURIComponent(hooks)}`];

let folder: string;

/** Runs the command to its end, without the packages unless told otherwise. */
function sounding(words: readonly string[], options = nodeOptions) {
  const env = { ...childEnvironment, SOUNDING_DATA_DIR: join(folder, "data"), SOUNDING_INSTALL: "false" };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [...options, sourceCommand, ...words],
      { env, cwd: folder },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

interface Finding {
  readonly area: string;
  readonly status: string;
  readonly message: string;
  readonly advice?: string;
}

async function doctor(words: readonly string[] = [], options = nodeOptions): Promise<Finding[]> {
  const { stdout } = await sounding(["doctor", "--json", "--url", "http://127.0.0.1:1", ...words], options);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.filter(({ area }) => area === "llama_cpp" || area === "sherpa_onnx");
}

describe("without the packages of local engines", () => {
  beforeTests(async (stack) => {
    folder = await mkdtemp(join(tmpdir(), "sounding-engine-packages-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    await writeFile(
      join(folder, "local.yaml"),
      `engines: { local: { type: llama_cpp, models: { small: { file: small.gguf } } } }
models: { small: { targets: [{ engine: local, model: small }] } }
`,
    );
  });

  test("the server starts with what it has, and does not list the trial model", async () => {
    await using server = await serveProcess({}, { script: sourceCommand, nodeOptions });
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(server.output.stdout)!;
    const headers = { authorization: `Bearer ${/sk-[\w-]{43}/.exec(server.output.stdout)![0]}` };
    const response = await fetch(`${url}/v1/models`, { headers });
    const { data } = (await response.json()) as { data: { id: string }[] };
    const ids = data.map(({ id }) => id);
    assert.deepEqual([ids.includes("flite"), ids.includes("sounding-trial")], [true, false], ids.join());
  });

  test("a server whose configuration needs one does not start, and prints the command that adds it", async () => {
    const { code, stderr } = await sounding(["serve", "--port", "0", "--config", join(folder, "local.yaml")]);
    assert.notEqual(code, 0);
    const name = "node-llama-cpp";
    assert.ok(stderr.includes(`The engine "local" of type llama_cpp needs the npm package ${name}`), stderr);
    assert.ok(stderr.includes(`run: npm install ${name}@${peerDependencies[name]}\n`), stderr);
  });

  test("`sounding doctor` lists each with the command that adds it, as a failure if an engine needs it", async () => {
    const found = await doctor();
    assert.deepEqual(
      found.map(({ area, status }) => [area, status]),
      [
        ["llama_cpp", "warning"],
        ["sherpa_onnx", "warning"],
      ],
    );
    for (const [index, command] of commands.entries()) assert.ok(found[index]!.advice!.endsWith(`: ${command}`));
    const [llama, sherpa] = await doctor(["--config", join(folder, "local.yaml")]);
    assert.deepEqual([llama!.status, sherpa!.status], ["failed", "warning"]);
    assert.match(llama!.message, /the engine "local" needs it/);
  });

  test("`sounding doctor` says which are installed", async () => {
    const found = await doctor([], []);
    assert.deepEqual(
      found.map(({ area, status }) => [area, status]),
      [
        ["llama_cpp", "ok"],
        ["sherpa_onnx", "ok"],
      ],
    );
  });
});
