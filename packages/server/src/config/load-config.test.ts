import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { implicitEngines } from "./discovery.ts";
import { loadConfig } from "./load-config.ts";
import { formatProblem } from "./problem.ts";
import { onlyAsUser } from "../../../../test/support/needs.ts";

const repository = fileURLToPath(new URL("../../../..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "sounding-load-"));
after(() => rm(folder, { recursive: true }));

async function write(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

async function problemsOf(path: string): Promise<string> {
  const { config, problems } = await loadConfig({ path, env: {} });
  assert.equal(config, undefined);
  return problems.map(formatProblem).join("\n");
}

describe("the configuration", () => {
  test("needs TLS for identity providers of other machines, unless it allows plain HTTP", async () => {
    const withIssuer = async (issuer: string, more = "") =>
      write("issuer.yaml", `sign_in: { providers: { acme: { issuer: "${issuer}", client_id: a${more} } } }\n`);
    assert.match(
      await problemsOf(await withIssuer("http://login.example.com")),
      /which is not encrypted; use https, or set allow_http/,
    );
    for (const path of [
      await withIssuer("http://127.0.0.1:9000"),
      await withIssuer("http://login.example.com", ", allow_http: true"),
    ])
      assert.deepEqual((await loadConfig({ path, env: {} })).problems, []);
  });

  test("is all defaults if there is no file, and listens on this machine only", async () => {
    const { config, problems, found, file } = await loadConfig({ env: {} });
    assert.deepEqual(problems, []);
    assert.equal(found, false);
    assert.equal(file, resolve("sounding.yaml"));
    assert.equal(config?.server.host, "127.0.0.1");
    assert.equal(config?.server.port, 4141);
    const shared = { backend: "none", when_unreachable: "allow", timeout_ms: 250 };
    const budgets = { budget_output_tokens: 4096, max_output_tokens: {} };
    assert.deepEqual(config?.limits, { key: {}, organization: {}, shared, ...budgets });
    assert.deepEqual(config?.engines, {});
    assert.equal(config?.discovery.enabled, true);
  });

  test("comes from the named file, otherwise from the one that SOUNDING_CONFIG names", async () => {
    const one = await write("one.yaml", "server: {port: 1}");
    const two = await write("two.yaml", "server: {port: 2}");
    const env = { SOUNDING_CONFIG: one };
    assert.equal((await loadConfig({ env })).config?.server.port, 1);
    assert.equal((await loadConfig({ path: two, env })).config?.server.port, 2);
    const overrides = { server: { port: 3 } };
    assert.equal((await loadConfig({ path: two, env, overrides })).config?.server.port, 3);
  });

  test("never shows secrets", async () => {
    const text = "engines: {a: {type: anthropic, api_key: '${KEY}', headers: {x-api: geheim}}}";
    const { config, sources } = await loadConfig({ path: await write("secret.yaml", text), env: { KEY: "geheim" } });
    assert.equal(JSON.stringify(config?.engines["a"]).match(/geheim/g)?.length, 2);
    assert.doesNotMatch(JSON.stringify(sources), /geheim/);
  });

  test("accepts every setting of the repository's example file", async () => {
    const { config, problems } = await loadConfig({
      path: join(repository, "sounding.example.yaml"),
      env: { OPENAI_API_KEY: "a", ANTHROPIC_API_KEY: "b", AZURE_OPENAI_API_KEY: "c" },
    });
    assert.deepEqual(problems.map(formatProblem), []);
    assert.ok(Object.keys(config!.models).length > 1);
  });

  test("is also valid with every commented-out line of the example enabled", async () => {
    const example = await readFile(join(repository, "sounding.example.yaml"), "utf8");
    const text = example.replaceAll(/^( *)#(?! [A-Z])/gm, "$1");
    assert.notEqual(text, example);
    const SOUNDING_CONTENT_KEY = "0".repeat(64);
    const keys = { OPENAI_API_KEY: "a", ANTHROPIC_API_KEY: "b", AZURE_OPENAI_API_KEY: "c", SOUNDING_CONTENT_KEY };
    const env = { ...keys, DATABASE_PASSWORD: "d" };
    const { problems } = await loadConfig({ path: await write("whole.yaml", text), env });
    assert.deepEqual(problems.map(formatProblem), []);
  });
});

describe("the documentation", () => {
  for (const page of ["start/configuration.md", "administer/limits.md"]) {
    test(`docs/${page} has examples without problems`, async () => {
      const text = await readFile(join(repository, "docs", page), "utf8");
      const examples = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map((match) => match[1] ?? "");
      assert.ok(examples.length > 0);
      for (const example of examples) {
        const { problems } = await loadConfig({
          path: await write("example.yaml", example),
          env: { OPENAI_API_KEY: "k" },
        });
        assert.deepEqual(problems.map(formatProblem), []);
      }
    });
  }
});

describe("a file that cannot be used is reported:", () => {
  test("one that does not exist", async () => {
    assert.match(await problemsOf(join(folder, "nowhere.yaml")), /nowhere\.yaml: The file does not exist\.$/);
  });

  test("a folder", async () => {
    await mkdir(join(folder, "folder.yaml"));
    assert.match(await problemsOf(join(folder, "folder.yaml")), /: This is a folder, not a file\.$/);
  });

  test("one that may not be read", { skip: onlyAsUser }, async () => {
    const file = await write("closed.yaml", "");
    await chmod(file, 0);
    assert.match(await problemsOf(file), /: The file cannot be read: permission denied\.$/);
  });

  test("one that is not text", async () => {
    assert.match(await problemsOf(await write("binary.yaml", Buffer.from([0xff, 0xfe, 0x00]))), /not UTF-8 text\.$/);
  });

  test("one that is too large", async () => {
    const file = await write("large.yaml", `# ${"x".repeat(8 * 1024 * 1024)}`);
    assert.match(await problemsOf(file), /has 8388610 bytes; at most 8388608 are allowed\.$/);
  });
});

describe("discovery", () => {
  const names = async (env: Record<string, string>) =>
    Object.keys(implicitEngines((await loadConfig({ env })).config!.discovery));

  test("adds the engine of each vendor whose key is in the environment, and Ollama", async () => {
    const env = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b", GEMINI_API_KEY: "", GROQ_API_KEY: "c" };
    assert.deepEqual(await names(env), ["openai", "anthropic", "groq", "ollama", "flite", "espeak-ng", "pocketsphinx"]);
  });

  test("adds nothing when it is off", async () => {
    assert.deepEqual(await names({ OPENAI_API_KEY: "b", SOUNDING_DISCOVERY_ENABLED: "false" }), []);
  });

  test("creates engines that could be written in the file unchanged", async () => {
    const keys = ["OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "COHERE", "OPENROUTER", "GROQ", "DEEPSEEK", "XAI"];
    const env = Object.fromEntries(keys.map((key) => [`${key}_API_KEY`, "k"]));
    const added = implicitEngines((await loadConfig({ env })).config!.discovery);
    assert.equal(Object.keys(added).length, keys.length + 4);
    const engines = Object.fromEntries(Object.entries(added).map(([name, { settings }]) => [name, settings]));
    const { config, problems } = await loadConfig({
      path: await write("added.yaml", JSON.stringify({ engines })),
      env: {},
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(config?.engines, engines);
    assert.equal(added["ollama"]?.optional, true);
    const ollama = engines["ollama"];
    assert.ok(ollama?.type === "openai_compatible");
    assert.equal(ollama.base_url, "http://127.0.0.1:11434/v1");
  });
});
