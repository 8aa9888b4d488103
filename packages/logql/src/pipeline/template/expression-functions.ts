/** `count`, `regexReplaceAll` and `regexReplaceAllLiteral`: RE2's syntax, with bounded work. */
import { compileBounded } from "@sounding/promql/regex/bounded-automaton";
import type { Automaton } from "@sounding/promql/regex/automaton";
import {
  checkSize,
  fixed,
  slowCharactersPerStep,
  textOf,
  type CallContext,
  type TemplateFunction,
} from "./function.ts";
import { TemplateProblem } from "./problem.ts";

const known = new Map<string, Automaton>();
const mostKnown = 64;

function automatonOf(expression: string): Automaton {
  let automaton = known.get(expression);
  if (automaton === undefined) {
    const compiled = compileBounded(expression, "no-newlines");
    if ("problem" in compiled) throw new TemplateProblem(compiled.problem);
    ({ automaton } = compiled);
    if (known.size >= mostKnown) known.clear();
    known.set(expression, automaton);
  }
  return automaton;
}

type Matcher = ReturnType<Automaton["pattern"]["matcher"]>;

/** The matches that do not overlap; an empty one right behind another does not count. */
function* matches(expression: string, text: string, { spend }: CallContext): Generator<Matcher> {
  const { instructions, pattern } = automatonOf(expression);
  const matcher = pattern.matcher(text);
  let from = 0;
  let lastEnd = -1;
  spend(Math.ceil((instructions.length * text.length) / stepsPerWork));
  while (from <= text.length && matcher.find(from)) {
    const end = matcher.end();
    spend(1);
    if (end > matcher.start() || end !== lastEnd) yield matcher;
    lastEnd = end;
    if (end > from) from = end;
    else from += text.codePointAt(from)! > 0xffff ? 2 : 1;
  }
}

/** Steps of a matcher that take as long as a step of a template. */
const stepsPerWork = 16;

function replaceAll(
  expression: string,
  text: string,
  replacementOf: (matcher: Matcher) => string,
  context: CallContext,
): string {
  let result = "";
  let kept = 0;
  for (const matcher of matches(expression, text, context)) {
    result += text.slice(kept, matcher.start()) + replacementOf(matcher);
    kept = matcher.end();
    checkSize(result.length);
  }
  return kept === 0 && result === "" ? text : result + text.slice(kept);
}

/** `$1`, `$name`, `${name}` and `$$`; a group that does not exist is empty. */
function expand(template: string, matcher: Matcher, { groupCount, groupNames }: Automaton): string {
  return template.replaceAll(/\$(?:(\$)|\{(\w+)\}|(\w+))/g, (_, dollar?: string, braced?: string, plain?: string) => {
    if (dollar !== undefined) return "$";
    const name = braced ?? plain!;
    const group = /^\d+$/.test(name) ? Number(name) : groupNames.get(name);
    return group === undefined || group > groupCount ? "" : (matcher.group(group) ?? "");
  });
}

export const expressionFunctions: Readonly<Record<string, TemplateFunction>> = {
  count: fixed(2, ([expression, text], context) => {
    let count = 0n;
    for (const _ of matches(textOf(expression), textOf(text), context)) count++;
    return count;
  }),
  regexReplaceAll: fixed(3, ([expression, text, replacement], context) => {
    const automaton = automatonOf(textOf(expression));
    return replaceAll(
      textOf(expression),
      textOf(text),
      (matcher) => {
        context.spend(Math.ceil(textOf(replacement).length / slowCharactersPerStep));
        return expand(textOf(replacement), matcher, automaton);
      },
      context,
    );
  }),
  regexReplaceAllLiteral: fixed(3, ([expression, text, replacement], context) =>
    replaceAll(textOf(expression), textOf(text), () => textOf(replacement), context),
  ),
};
