/** Which engines the environment selects. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addableModels, implicitEngines, mayUnpackPocketSphinx } from "./discovery.ts";
import type { Environment } from "./interpolate.ts";
import { resolveConfig } from "./load-config.ts";
import { parseYaml } from "./yaml-file.ts";

function find(env: Environment) {
  const { config, problems } = resolveConfig({ file: undefined, env });
  assert.deepEqual(problems, []);
  return implicitEngines(config!.discovery);
}

/** The one engine besides those that need no key. */
function settingsFrom(env: Environment): unknown {
  const { ollama: _ollama, flite: _flite, "espeak-ng": _espeak, pocketsphinx: _recognizer, ...others } = find(env);
  assert.equal(Object.keys(others).length, 1);
  return Object.values(others)[0]!.settings;
}

function has(actual: unknown, expected: object): void {
  assert.deepEqual({ ...(actual as object), ...expected }, actual);
}

describe("the environment", () => {
  test("without keys selects built-in speech and probes for Ollama, espeak-ng and PocketSphinx", () => {
    const engines = find({ OPENAI_API_KEY: "", AWS_REGION: "eu-west-1", AZURE_OPENAI_API_KEY: "key" });
    assert.deepEqual(Object.keys(engines), ["ollama", "flite", "espeak-ng", "pocketsphinx"]);
    assert.deepEqual(
      Object.values(engines).map(({ optional }) => optional),
      [true, false, true, true],
    );
    has(engines["ollama"]!.settings, { base_url: "http://127.0.0.1:11434/v1", connect_timeout_ms: 5_000 });
  });

  test("names vendors by their keys, with every default filled in", () => {
    has(settingsFrom({ OPENAI_API_KEY: "key" }), {
      type: "openai_compatible",
      api_key: "key",
      base_url: "https://api.openai.com/v1",
      total_timeout_ms: 600_000,
    });
    has(settingsFrom({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: "http://proxy:8000/v1" }), {
      base_url: "http://proxy:8000/v1",
    });
    has(settingsFrom({ ANTHROPIC_API_KEY: "key" }), { type: "anthropic", api_key: "key" });
    has(settingsFrom({ GEMINI_API_KEY: "key" }), { type: "google", api_key: "key" });
    has(settingsFrom({ GOOGLE_GENERATIVE_AI_API_KEY: "key" }), { type: "google", api_key: "key" });
    has(settingsFrom({ MISTRAL_API_KEY: "key" }), { type: "mistral", api_key: "key" });
    has(settingsFrom({ COHERE_API_KEY: "key" }), { type: "cohere", api_key: "key" });
    has(settingsFrom({ AZURE_OPENAI_API_KEY: "key", AZURE_OPENAI_ENDPOINT: "https://x.openai.azure.com" }), {
      type: "azure_openai",
      base_url: "https://x.openai.azure.com",
    });
    has(settingsFrom({ AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" }), {
      type: "amazon_bedrock",
      region: "eu-west-1",
      access_key_id: "id",
      secret_access_key: "secret",
    });
    has(settingsFrom({ AWS_REGION: "eu-west-1", AWS_BEARER_TOKEN_BEDROCK: "key" }), { api_key: "key" });
  });

  test("that is wrong is reported without the key", () => {
    const env = { OPENAI_API_KEY: "hush hush", OPENAI_BASE_URL: "nowhere" };
    const messages = resolveConfig({ file: undefined, env }).problems.map(({ message }) => message);
    assert.equal(messages.length, 2);
    for (const name of Object.keys(env)) assert.ok(messages.some((message) => message.includes(name)));
    assert.doesNotMatch(messages.join(), /hush/);
  });

  test("gives the address of Ollama, in each form that Ollama accepts", () => {
    const urlFor = (host: string) => find({ OLLAMA_HOST: host })["ollama"]?.settings;
    has(urlFor("box"), { base_url: "http://box:11434/v1" });
    has(urlFor("box:1234"), { base_url: "http://box:1234/v1" });
    has(urlFor("0.0.0.0"), { base_url: "http://127.0.0.1:11434/v1" });
    has(urlFor("https://box/"), { base_url: "https://box/v1" });
  });

  test("is not read when discovery is off", () => {
    assert.deepEqual(find({ OPENAI_API_KEY: "key", SOUNDING_DISCOVERY_ENABLED: "false" }), {});
  });
});

describe("the first start", () => {
  for (const [what, file, expected] of [
    ["nothing is configured", {}, true],
    ["other engines are configured", { engines: { here: { type: "flite" } } }, true],
    ["PocketSphinx is configured under any name", { engines: { asr: { type: "pocketsphinx" } } }, false],
    ["another engine has its name", { engines: { pocketsphinx: { type: "flite" } } }, false],
    ["discovery is off", { discovery: { enabled: false } }, false],
    ["installing is off", { discovery: { install: false } }, false],
  ] as const) {
    test(`${expected ? "may" : "does not"} install PocketSphinx if ${what}`, () => {
      const { config, problems } = resolveConfig({ file: parseYaml("test.yaml", JSON.stringify(file)), env: {} });
      assert.deepEqual(problems, []);
      assert.equal(mayUnpackPocketSphinx(config!), expected);
    });
  }

  for (const [what, file, transcription, speech] of [
    ["nothing is configured", {}, true, true],
    ["only a vendor is configured", { engines: { v: { type: "anthropic", api_key: "key" } } }, true, true],
    ["a local voice is configured", { engines: { here: { type: "flite" } } }, true, false],
    ["a local recognizer is configured", { engines: { asr: { type: "pocketsphinx" } } }, false, true],
    [
      "models of sherpa-onnx are configured",
      { engines: { s: { type: "sherpa_onnx", models: { own: { kind: "vits", folder: "own" } } } } },
      false,
      false,
    ],
    ["files are not served", { discovery: { model_files: false } }, false, false],
    ["discovery is off", { discovery: { enabled: false } }, false, false],
    ["installing is off", { discovery: { install: false } }, false, false],
  ] as const) {
    test(`adds ${transcription ? "a" : "no"} recognizer and ${speech ? "a" : "no"} voice if ${what}`, () => {
      const { config, problems } = resolveConfig({ file: parseYaml("test.yaml", JSON.stringify(file)), env: {} });
      assert.deepEqual(problems, []);
      assert.deepEqual(addableModels(config!), { transcription, speech });
    });
  }
});
