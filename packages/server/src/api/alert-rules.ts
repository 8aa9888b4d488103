/**
 * Alert rules as data, with the names of Prometheus' rule files, for the configuration and the admin API.
 * https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/
 */
import { Type, type Static } from "typebox";

const duration = (description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 32,
      pattern: "^(?:0|(?:\\d+y)?(?:\\d+w)?(?:\\d+d)?(?:\\d+h)?(?:\\d+m)?(?:\\d+s)?(?:\\d+ms)?)$",
      description,
    }),
  );

const texts = (description: string) =>
  Type.Optional(
    Type.Record(Type.String({ minLength: 1 }), Type.String({ maxLength: 8192, description: "Text or a template." }), {
      propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$" },
      maxProperties: 50,
      description,
    }),
  );

export const alertRule = Type.Object(
  {
    alert: Type.String({ minLength: 1, maxLength: 128, description: "Name of the alert: the value of `alertname`." }),
    expr: Type.String({
      minLength: 1,
      maxLength: 65_536,
      description: "PromQL or LogQL that returns an instant vector: each of its series is an alert.",
    }),
    for: duration("How long the expression must hold before the alert fires, such as `5m`. Absent: it fires at once."),
    keep_firing_for: duration("How long the alert keeps firing after the expression no longer holds. Absent: `0s`."),
    labels: texts("Labels to add to the alert or to replace; values may be templates."),
    annotations: texts("Texts for people, such as `summary` and `description`; values may be templates."),
  },
  { additionalProperties: false, description: "An alert rule." },
);
export type AlertRuleDefinition = Static<typeof alertRule>;

export const alertGroupName = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Name of the group.",
});

/** What a group has in addition to its name, wherever it is defined. */
export const alertGroupMembers = {
  language: Type.Optional(
    Type.Enum(["promql", "logql"], { description: "Language of the expressions. Absent: `promql`." }),
  ),
  project: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: "The only project that the expressions read. Absent: every project of the organization.",
    }),
  ),
  interval: duration("Time between two evaluations, from `1s` to `1d`. Absent: `1m`."),
  query_offset: duration("How far before the time of the evaluation the expressions are evaluated. Absent: `0s`."),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 500,
      description: "Maximum number of alerts of a rule; with more, its evaluation fails. Absent or 0: 500.",
    }),
  ),
  labels: texts("Labels of all rules of the group; a rule's own labels take precedence."),
  rules: Type.Array(alertRule, { minItems: 1, maxItems: 100, description: "The rules, evaluated in this order." }),
};

const alertGroup = Type.Object({ name: alertGroupName, ...alertGroupMembers });
export type AlertGroupDefinition = Static<typeof alertGroup>;
