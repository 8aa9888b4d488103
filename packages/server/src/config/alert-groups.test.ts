import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Config } from "./config.ts";
import { loadConfig } from "./load-config.ts";
import { formatProblem } from "./problem.ts";
import { watchConfig } from "./watch-config.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

let folder: string;
beforeTests(async (stack) => {
  folder = await mkdtemp(join(tmpdir(), "sounding-alert-groups-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
});

/** The problems of a configuration, without the folder. */
async function problemsOf(yaml: string, files: Readonly<Record<string, string>> = {}): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const path = join(folder, "sounding.yaml");
  await writeFile(path, yaml);
  const { problems } = await loadConfig({ path, env: {} });
  return problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ""));
}

const oneRule = (rule: string, group = ""): string =>
  `alerts:\n  groups:\n    - name: g\n      ${group}rules:\n        - alert: A\n          ${rule}\n`;

describe("a problem of an alert rule names the group, the rule and the place", () => {
  for (const [what, yaml, expected] of [
    [
      "PromQL that does not parse",
      oneRule("expr: rate(x[5m]"),
      'sounding.yaml:6:17: alerts.groups[0].rules[0].expr: group "g": rule "A": expr: 1:11: parse error: unclosed left parenthesis',
    ],
    [
      "PromQL with a wrong type",
      oneRule("expr: x[5m]"),
      'sounding.yaml:6:17: alerts.groups[0].rules[0].expr: group "g": rule "A": expr: 1:1: the type is range vector; expected an instant vector or a scalar.',
    ],
    [
      "LogQL that is no metric query",
      oneRule(`expr: '{app="x"}'`, "language: logql\n      "),
      'sounding.yaml:7:17: alerts.groups[0].rules[0].expr: group "g": rule "A": expr: 1:1: this is a log query; expected a metric query such as count_over_time({…}[5m]) > 0.',
    ],
    [
      "an unknown function of a template",
      oneRule("expr: up\n          annotations: { summary: '{{ query \"up\" }}' }"),
      'sounding.yaml:7:35: alerts.groups[0].rules[0].annotations.summary: group "g": rule "A": annotations.summary: invalid template: function "query" not defined.',
    ],
    [
      "a reserved label",
      oneRule("expr: up\n          labels: { alertname: x }"),
      'sounding.yaml:7:11: alerts.groups[0].rules[0].labels: group "g": rule "A": labels: "alertname" cannot be set.',
    ],
    [
      "an interval that is too short",
      oneRule("expr: up", "interval: 10ms\n      "),
      'sounding.yaml:4:17: alerts.groups[0].interval: group "g": interval is "10ms"; it must be from 1s to 1d.',
    ],
  ] as const) {
    test(what, async () => {
      const problems = await problemsOf(yaml);
      assert.equal(problems.length, 1);
      assert.ok(problems[0]!.startsWith(expected), problems[0]);
    });
  }
});

describe("rule files", () => {
  const sources =
    'alerts:\n  rule_files:\n    - path: "*.rules.yaml"\n      organizations: [acme]\n      project: shop\n';

  test("have groups as in Prometheus; nothing in them is replaced", async () => {
    const file =
      'groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: label_replace(up, "a", "${1}", "b", "(.*)")\n';
    assert.deepEqual(await problemsOf(sources, { "one.rules.yaml": file }), []);
    const { config } = await loadConfig({ path: join(folder, "sounding.yaml"), env: {} });
    const [group] = config!.alertGroups;
    assert.deepEqual(
      [group!.file, group!.organizations, group!.definition.project],
      ["one.rules.yaml", ["acme"], "shop"],
    );
    assert.match(group!.definition.rules[0]!.expr, /"\$\{1\}"/);
  });

  test("report problems with their own lines", async () => {
    const file =
      "groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: up >\n      - record: b\n        expr: up\n";
    const problems = await problemsOf(sources, { "one.rules.yaml": file });
    assert.match(problems[0]!, /^one\.rules\.yaml:6:9: Unknown setting "record" in groups\[0\]\.rules\[1\]/);
    const syntax = await problemsOf(sources, {
      "one.rules.yaml": "groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: up >\n",
    });
    assert.match(syntax[0]!, /^one\.rules\.yaml:5:15: groups\[0\]\.rules\[0\]\.expr: group "g": rule "A": expr: 1:/);
  });

  test("must exist", async () => {
    const problems = await problemsOf("alerts:\n  rule_files:\n    - path: none*.yaml\n");
    assert.deepEqual(problems, [
      'sounding.yaml:3:13: alerts.rule_files[0].path is "none*.yaml"; no file has that path.',
    ]);
  });
});

test("a reload with an invalid rule keeps the configuration in use; a valid one applies", async () => {
  const path = join(folder, "reloaded.yaml");
  await writeFile(path, oneRule("expr: up"));
  const load = { path, env: {} };
  const loaded = await loadConfig(load);
  const applied: Config[] = [];
  const logged: string[] = [];
  const log = (_fields: object, message: string): void => void logged.push(message);
  const watch = watchConfig({
    load,
    loaded: { ...loaded, config: loaded.config! },
    logger: { debug: log, info: log, warn: log, error: log },
    apply: (config) => void applied.push(config),
    debounceMs: 3_600_000,
  });
  try {
    await writeFile(path, oneRule("expr: up >"));
    await watch.reload();
    assert.equal(applied.length, 0);
    assert.deepEqual(logged, ["the configuration file is invalid; the current configuration stays active"]);
    await writeFile(path, oneRule("expr: up > 1"));
    await watch.reload();
    assert.equal(applied[0]!.alertGroups[0]!.definition.rules[0]!.expr, "up > 1");
  } finally {
    await watch.close();
  }
});
