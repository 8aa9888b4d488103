/**
 * Compiles the metric presets of the configuration: PromQL with `range()` for the window and `"$name"` for a filter. The text
 * is parsed once at startup. Calls put values into the parsed tree, so a value cannot change the structure of the query.
 */
import type { MetricPresetSettings } from "../../../config/metric-presets.ts";
import { AppError, toAppError } from "../../../errors.ts";
import { childrenOf, type DurationExpression, type Expression, type LabelMatcher } from "@sounding/promql/syntax/ast";
import { typeOf } from "@sounding/promql/syntax/check";
import { parseExpression } from "@sounding/promql/syntax/parse";
import { duration } from "./expression-factories.ts";
import { matcherFilters, type MatcherFilter, type MetricPreset, type PresetCall } from "./preset.ts";

/** @throws AppError invalid_request that names the setting */
export function configuredPreset(name: string, settings: MetricPresetSettings): MetricPreset {
  const param = `telemetry.metric_presets.${name}.query`;
  const template = parseTemplate(settings.query, param);
  const filters = filtersIn(template, param);
  return {
    name,
    group: "Configured",
    isConfigured: true,
    description: settings.description ?? "A preset defined in this server's configuration.",
    unit: settings.unit ?? "",
    labels: template.kind === "aggregation" && !template.without ? template.grouping : [],
    filters,
    build: (presetCall) => substitute(template, presetCall),
  };
}

function parseTemplate(query: string, param: string): Expression {
  let template: Expression;
  try {
    template = parseExpression(query);
  } catch (error) {
    throw new AppError("invalid_request", `${param} is not a valid PromQL query: ${toAppError(error).message}`, {
      param,
    });
  }
  if (typeOf(template) === "vector") return template;
  throw new AppError("invalid_request", `${param} does not return an instant vector.`, { param });
}

const placeholder = /^\$(?<name>[a-z_]+)$/;

function filtersIn(template: Expression, param: string): MatcherFilter[] {
  const found = new Set<MatcherFilter>();
  const visit = (node: Expression): void => {
    for (const { value } of node.kind === "vector-selector" ? node.matchers : []) {
      const name = placeholder.exec(value)?.groups?.["name"];
      if (name === undefined) continue;
      const filter = matcherFilters.find((each) => each === name);
      if (filter === undefined) {
        const expected = matcherFilters.map((each) => `"$${each}"`).join(", ");
        throw new AppError("invalid_request", `${param} has the parameter "$${name}"; expected ${expected}.`, {
          param,
        });
      }
      found.add(filter);
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(template);
  return [...found];
}

/** The template with its parameters filled in. A matcher whose filter is absent is dropped. */
// oxlint-disable-next-line typescript/consistent-return -- the switch is exhaustive, which tsc checks
function substitute(node: Expression, presetCall: PresetCall): Expression {
  const inside = <Kind extends Expression>(each: Kind): Kind => substitute(each, presetCall) as Kind;
  switch (node.kind) {
    case "number":
    case "string":
      return node;
    case "vector-selector":
      return { ...node, matchers: node.matchers.flatMap((matcher) => substituteMatcher(matcher, presetCall)) };
    case "matrix-selector":
      return { ...node, selector: inside(node.selector), range: substituteDuration(node.range, presetCall) };
    case "subquery":
      return { ...node, expression: inside(node.expression), range: substituteDuration(node.range, presetCall) };
    case "aggregation":
      return {
        ...node,
        expression: inside(node.expression),
        parameter: node.parameter === null ? null : inside(node.parameter),
      };
    case "binary":
      return { ...node, left: inside(node.left), right: inside(node.right) };
    case "unary":
      return { ...node, operand: inside(node.operand) };
    case "call":
      return { ...node, arguments: node.arguments.map(inside) };
    case "parentheses":
      return { ...node, inner: inside(node.inner) };
  }
}

function substituteMatcher(matcher: LabelMatcher, { matchers }: PresetCall): LabelMatcher[] {
  const name = placeholder.exec(matcher.value)?.groups?.["name"];
  if (name === undefined) return [matcher];
  const given = matchers.find((each) => each.name === name);
  if (given === undefined) return [];
  const isPattern = matcher.operator === "=~" || matcher.operator === "!~";
  return [{ ...matcher, value: isPattern ? escapePattern(given.value) : given.value }];
}

/** A regular expression that matches exactly this text. */
function escapePattern(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, String.raw`\$&`);
}

/** Replaces `range()` with the window, also inside arithmetic. */
function substituteDuration(node: DurationExpression, presetCall: PresetCall): DurationExpression {
  switch (node.kind) {
    case "duration-context":
      return node.word === "range" ? duration(presetCall.windowSeconds) : node;
    case "duration-arithmetic":
    case "duration-choice":
      return {
        ...node,
        left: substituteDuration(node.left, presetCall),
        right: substituteDuration(node.right, presetCall),
      };
    case "duration-parentheses":
      return { ...node, inner: substituteDuration(node.inner, presetCall) };
    case "duration-negation":
      return { ...node, operand: substituteDuration(node.operand, presetCall) };
    default:
      return node;
  }
}
