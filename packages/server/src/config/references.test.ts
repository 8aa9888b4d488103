import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { resolveConfig } from "./load-config.ts";
import { formatProblem } from "./problem.ts";
import { parseYaml } from "./yaml-file.ts";

function problemsOf(text: string, env: Record<string, string> = {}): string[] {
  return resolveConfig({ file: parseYaml("test.yaml", text), env }).problems.map(formatProblem);
}

const engines = "engines: {local: {type: openai_compatible, base_url: 'http://127.0.0.1:8000/v1'}}\n";

const cases: readonly [title: string, text: string, ...problems: string[]][] = [
  [
    "a target at an engine that does not exist",
    `${engines}models:\n  a:\n    targets: [{engine: locla, model: x}]\n`,
    'test.yaml:4:24: models.a.targets[0].engine is "locla", but no such engine exists. Did you mean "local"?',
  ],
  [
    "a fallback that does not exist",
    `${engines}models:\n  llama-70b: {targets: [{engine: local, model: x}], fallbacks: [lama-70b]}\n`,
    'test.yaml:3:65: models.llama-70b.fallbacks[0] is "lama-70b", but no such model exists. Did you mean "llama-70b"?',
  ],
  [
    "a model that falls back to itself",
    `${engines}models:\n  a: {targets: [{engine: local, model: x}], fallbacks: [a]}\n`,
    "test.yaml:3:57: models.a.fallbacks[0] names the model itself; name another model.",
  ],
  [
    "an alias of nothing",
    "aliases:\n  fast: small\n",
    'test.yaml:2:9: aliases.fast is "small", but no such model exists. Known models: fast.',
  ],
  ["aliases in a circle", "aliases:\n  a: b\n  b: a\n", "test.yaml:2:6: aliases.a is part of a cycle: a → b → a."],
  [
    "an alias with a model's name",
    `${engines}models:\n  a: {targets: [{engine: local, model: x}]}\naliases: {a: a}\n`,
    "test.yaml:4:14: aliases.a has the same name as a model under `models`; rename one of them.",
    "test.yaml:4:14: aliases.a is part of a cycle: a → a.",
  ],
  [
    "a guardrail that looks for nothing, and patterns that are none",
    "guardrails:\n  house:\n    type: rules\n    rules:\n      - { category: hate, patterns: ['(a', 'b*'] }\n      - { category: hate }\n",
    "test.yaml:5:38: guardrails.house.rules[0].patterns[0] is not a regular expression in RE2 syntax: error parsing regexp: missing closing ): `(a`.",
    "test.yaml:5:44: guardrails.house.rules[0].patterns[1] matches empty text; write a pattern that matches at least one character.",
    "test.yaml:6:9: guardrails.house.rules[1] has neither `words`, `patterns` nor `detect`; add at least one.",
  ],
  [
    "a pattern of redaction that is none",
    "redaction:\n  house:\n    patterns:\n      broken: '(a'\n      empty: 'b*'\n",
    "test.yaml:4:15: redaction.house.patterns.broken is not a regular expression in RE2 syntax: error parsing regexp: missing closing ): `(a`.",
    "test.yaml:5:14: redaction.house.patterns.empty matches empty text; write a pattern that matches at least one character.",
  ],
];

describe("a reference is reported with its line:", () => {
  for (const [title, text, ...problems] of cases) {
    test(title, () => assert.deepEqual(problemsOf(text), problems));
  }

  test("even if other things are wrong", () => {
    const problems = problemsOf(
      "server: {port: 70000}\nmodels:\n  a: {targets: [{engine: x, model: y, weight: -1}]}\n",
    );
    assert.deepEqual(
      problems.map((problem) => /^test\.yaml:\d+:\d+: ([^ ]+)/.exec(problem)?.[1]),
      ["server.port", "models.a.targets[0].engine", "models.a.targets[0].weight"],
    );
  });
});

describe("references may be to", () => {
  test("models, aliases of aliases, and engines that discovery adds", () => {
    const text =
      "models: {a: {targets: [{engine: openai, model: x}, {engine: ollama, model: y}]}}\naliases: {b: a, c: b, d: openai/gpt-4.1}";
    assert.deepEqual(problemsOf(text, { OPENAI_API_KEY: "k" }), []);
    assert.match(problemsOf(text).join(), /"openai", but no such engine exists/);
  });

  test("aliases, even in fallbacks, but not of the model itself", () => {
    const text = (alias: string) =>
      `${engines}models: {a: {targets: [{engine: local, model: x}], fallbacks: [z]}, b: {targets: [{engine: local, model: x}]}}\naliases: {z: ${alias}}`;
    assert.deepEqual(problemsOf(text("b")), []);
    assert.match(
      problemsOf(text("a")).join(),
      /models\.a\.fallbacks\[0\] names the model itself; name another model\./,
    );
    assert.match(problemsOf(text("local/x")).join(), /models\.a\.fallbacks\[0\] is "z", but no such model exists/);
  });

  test("several models that fall back to the same one, and to each other", () => {
    const model = (fallbacks: string) => `{targets: [{engine: local, model: x}], fallbacks: [${fallbacks}]}`;
    assert.deepEqual(problemsOf(`${engines}models: {a: ${model("b, c")}, b: ${model("c")}, c: ${model("a")}}`), []);
  });
});
