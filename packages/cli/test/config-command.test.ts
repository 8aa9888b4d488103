import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { run } from "../src/run.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-config-"));
after(() => rm(folder, { recursive: true }));

async function writeConfig(name: string, content: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

async function sounding(words: readonly string[], env: Record<string, string> = {}) {
  const stdout = new PassThrough({ highWaterMark: 1_000_000 });
  const stderr = new PassThrough({ highWaterMark: 1_000_000 });
  const code = await run(words, {
    stdin: Readable.from([]),
    stdout,
    stderr,
    isTTY: { stdin: false, stdout: false, stderr: false },
    env,
    signal: new AbortController().signal,
    abortedExitCode: () => 130,
  });
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

describe("sounding config check", () => {
  test("reports that a good file is valid", async () => {
    const file = await writeConfig("good.yaml", "server: {port: 4242}\n");
    assert.deepEqual(await sounding(["config", "check", "--config", file]), {
      code: 0,
      stdout: `${file} is valid.\n`,
      stderr: "",
    });
  });

  test("reports every problem with its line and exits with 8", async () => {
    const file = await writeConfig("bad.yaml", "server:\n  prot: 1\n  port: -1\n");
    const { code, stdout, stderr } = await sounding(["config", "check", "--config", file]);
    assert.equal(code, 8);
    assert.deepEqual(stdout.trimEnd().split("\n"), [
      `${file}:2:3: Unknown setting "prot" in server. Did you mean "port"?`,
      `${file}:3:9: server.port is -1; it must be an integer from 0 to 65535.`,
    ]);
    assert.equal(stderr, "2 problems.\n");
  });

  test("finds the file through SOUNDING_CONFIG and reports a missing one", async () => {
    const file = join(folder, "missing.yaml");
    const { code, stdout } = await sounding(["config", "check"], { SOUNDING_CONFIG: file });
    assert.equal(code, 8);
    assert.equal(stdout, `${file}: The file does not exist.\n`);
  });

  test("answers in JSON for programs", async () => {
    const file = await writeConfig("json.yaml", "zoo: 1\n");
    const { code, stdout } = await sounding(["config", "check", "--json", "--config", file]);
    assert.equal(code, 8);
    const { problems, ...rest } = JSON.parse(stdout) as { problems: { line: number; path: string }[] };
    assert.deepEqual(rest, { file, found: true, valid: false, warnings: [] });
    assert.deepEqual([problems[0]?.line, problems[0]?.path], [1, "zoo"]);
  });

  test("warns of models whose files are missing or damaged", async () => {
    await mkdir(join(folder, "data/models"), { recursive: true });
    await writeFile(join(folder, "data/models/bad.gguf"), "no model");
    const file = await writeConfig(
      "models.yaml",
      `storage: { data_dir: ${folder}/data }
engines:
  voices: { type: sherpa_onnx, models: { joe: { kind: vits, folder: joe } } }
  chats: { type: llama_cpp, models: { gone: { file: gone.gguf }, bad: { file: bad.gguf } } }
`,
    );
    const { code, stdout } = await sounding(["config", "check", "--config", file]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /models\.yaml is valid\./);
    for (const warning of [
      /^Warning: engines\.voices\.models\.joe: The model "joe" cannot be used: its folder "joe" does not exist \(neither /m,
      /^Warning: engines\.chats\.models\.gone: The model file "gone\.gguf" does not exist on this server \(not at /m,
      /^Warning: engines\.chats\.models\.bad: it is not a GGUF file/m,
    ])
      assert.match(stdout, warning);
  });
});

describe("sounding config show", () => {
  test("shows the settings in effect and their sources, and no secret", async () => {
    const file = await writeConfig("show.yaml", "server:\n  port: 4242\n");
    const env = { DATABASE_URL: "postgres://u:geheim@db/x", SOUNDING_LOG_LEVEL: "warn" };
    const { code, stdout } = await sounding(["config", "show", "--config", file, "--changed"], env);
    assert.equal(code, 0);
    assert.deepEqual(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/)),
      [
        ["SETTING", "VALUE", "FROM"],
        ["server.port", "4242", `${file}:2`],
        ["server.log_level", '"warn"', "SOUNDING_LOG_LEVEL"],
        ["storage.database_url", '"[hidden]"', "DATABASE_URL"],
      ],
    );
  });

  test("refuses an invalid configuration", async () => {
    const file = await writeConfig("invalid.yaml", "server: 5\n");
    const { code, stderr } = await sounding(["config", "show", "--config", file]);
    assert.equal(code, 8);
    assert.match(stderr, /the configuration is invalid: .*server is 5; it must be a map/);
  });
});
