/** Groups of alert rules: their expressions, durations and templates, and the texts that the templates become. */
import { compileGroup } from "../../../packages/server/src/alert-rules/compile-group.ts";
import { alertGroupMembers } from "../../../packages/server/src/api/alert-rules.ts";
import { toAppError } from "../../../packages/server/src/errors.ts";
import { schema } from "../../../packages/server/src/api/schema.ts";
import { validate } from "../../../packages/server/src/api/validate.ts";
import { Budget, defaultLimits } from "@sounding/promql/evaluate/budget";
import { Type } from "typebox";
import { hostileString } from "../hostile-values.ts";
import { logqlText } from "../logql-text.ts";
import { mutateText } from "../mutate-bytes.ts";
import { promqlText } from "../promql-text.ts";
import type { Random } from "../random.ts";
import type { DirectTarget } from "../target.ts";

const validFragments = [
  "{{ $labels.app }}",
  "{{ $value | humanize }}",
  "{{ $value | printf `%099999999.9f` }}",
  "{{ range $key, $value := .Labels }}{{ $key }}{{ end }}",
  "{{ range .Labels }}{{ range $.Labels }}{{ . }}{{ end }}{{ end }}",
  "{{ reReplaceAll `(a*)*b` `$1$1` $labels.app }}",
  "{{ if gt .Value 1.0 }}x{{ else }}y{{ end }}",
  "{{ toUpper $labels.app }}",
  "text",
] as const;
const fragments = [
  ...validFragments,
  "{{ range $key, $value := .Labels }}",
  "{{ with .Value }}",
  "{{ if gt .Value 1.0 }}",
  "{{ else }}",
  "{{ end }}",
  "{{ define `x` }}",
  "{{ template `x` . }}",
  "{{ reReplaceAll `(a*)*b` `$1$1` $labels.app }}",
  "{{ repeat 1000000 $labels.app }}",
  "{{ index .Labels `app` }}",
  "{{ toUpper }}",
  "{{",
  "}}",
  "{{/*",
  "|",
  "`",
  "$x := ",
] as const;
const durations = ["0", "5m", "5m", "5m", "1y", "292y", "9999999999y", "1h5m", "5m1h", "1ms"] as const;

function template(random: Random): string {
  const text = Array.from({ length: 1 + random.size(4) }, () =>
    random.pick(random.chance(0.7) ? validFragments : fragments),
  ).join(" ");
  return random.chance(0.8) ? text : mutateText(text, random, fragments);
}

function texts(random: Random): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: random.size(5) }, (_, index) => [
      random.chance(0.95) ? `name_${index}` : random.pick(["__name__", "alertname", "__proto__", "constructor"]),
      random.chance(0.8) ? template(random) : hostileString(random, 2000),
    ]),
  );
}

/** Most are valid, so that the templates are expanded. */
function expression(random: Random, language: string): string {
  if (language === "promql") return random.chance(0.7) ? "up > 0" : promqlText(random);
  return random.chance(0.7) ? 'count_over_time({app="a"}[5m]) > 0' : logqlText(random);
}

function group(random: Random): object {
  const language = random.pick(["promql", "logql"]);
  const rules = Array.from({ length: 1 + random.size(4) }, () => ({
    alert: random.chance(0.9) ? "A" : hostileString(random, 100),
    expr: expression(random, language),
    ...(random.chance(0.4) ? { for: random.pick(durations) } : {}),
    ...(random.chance(0.2) ? { keep_firing_for: random.pick(durations) } : {}),
    labels: texts(random),
    annotations: texts(random),
  }));
  return {
    name: "fuzz",
    language,
    interval: random.chance(0.9) ? "1m" : random.pick(durations),
    labels: texts(random),
    rules,
  };
}

const groupSchema = schema(Type.Object({ name: Type.String(), ...alertGroupMembers }));
const hostileLabels = new Map([
  ["app", "a".repeat(5000)],
  ["é", "{{ .Value }}"],
]);

export const alertRulesTarget: DirectTarget = {
  kind: "direct",
  name: "alert-rules",
  perSecond: 400,
  generate: (random) => Buffer.from(JSON.stringify(group(random))),
  async run(input) {
    const budget = new Budget(defaultLimits, new AbortController().signal);
    try {
      const definition = validate(groupSchema, JSON.parse(Buffer.from(input).toString("utf8")));
      const compiled = await compileGroup(definition, budget);
      if ("problems" in compiled) return "refused";
      for (const rule of compiled.rules) {
        for (const { template: text } of [...rule.labels, ...rule.annotations])
          await text.expand({ labels: hostileLabels, value: Number.NaN, unixMs: 0 }, budget);
      }
      return "expanded";
    } catch (error) {
      const { code, status } = toAppError(error);
      if (status < 500) return code;
      throw error;
    }
  },
};
