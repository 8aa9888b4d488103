/** Turns line filters into conditions on the rows of `logs`: every row that passes the filters meets them. */
import type { LineFilter, LineFilterOperand } from "@sounding/logql/syntax/ast";
import { opaqueKinds } from "../../../store/attribute-kinds.ts";
import { bind, join, sql, type Statement } from "../../../store/statement.ts";
import { allOf } from "../../conditions.ts";
import { mayContain } from "../line-index.ts";
import { storeExpression } from "../../store-expression.ts";

/** The line of a list, a map or an encrypted body is not its stored text, so only the engine can tell what it contains. */
export const hasStructuredBody = sql`body_type IN ${bind.texts(opaqueKinds)}`;

export interface LineConditions {
  readonly conditions: readonly Statement[];
  /** Whether rows that meet the conditions and have no structured body also pass the filters. */
  readonly isExact: boolean;
  /** Whether the index of texts excludes most blocks of a rare text. */
  readonly isIndexed: boolean;
}

export function lineConditions(filters: readonly LineFilter[]): LineConditions {
  const conditions: Statement[] = [];
  let isExact = true;
  let isIndexed = false;
  for (const filter of filters) {
    const { condition, ...found } = filterCondition(filter);
    isExact &&= found.isExact;
    isIndexed ||= found.isIndexed;
    if (condition !== undefined) conditions.push(sql`(${hasStructuredBody} OR (${condition}))`);
  }
  return { conditions, isExact, isIndexed };
}

interface FilterCondition extends Omit<LineConditions, "conditions"> {
  /** Undefined: every row may pass. */
  readonly condition: Statement | undefined;
}

const unknown: FilterCondition = { condition: undefined, isExact: false, isIndexed: false };

function filterCondition({ operands, operator }: LineFilter): FilterCondition {
  const isNegative = operator.startsWith("!");
  const found = operands.map((operand) => operandCondition(operator, operand));
  if (isNegative) {
    // A pattern's text parts are necessary, not sufficient, so that their absence says nothing.
    const known = found.filter((each) => each?.isExact === true).map((each) => sql`NOT (${each!.contains})`);
    const condition = known.length === 0 ? undefined : allOf(known);
    return { condition, isExact: known.length === found.length, isIndexed: false };
  }
  if (found.length === 0 || found.some((each) => each === undefined)) return unknown;
  const alternatives = found.map((each) => allOf([each!.hint, each!.contains])).map((each) => sql`(${each})`);
  return {
    condition: join(alternatives, sql` OR `),
    isExact: found.every((each) => each!.isExact),
    isIndexed: found.every((each) => each!.hint !== undefined),
  };
}

interface OperandCondition {
  readonly contains: Statement;
  readonly hint: Statement | undefined;
  readonly isExact: boolean;
}

function operandCondition(operator: LineFilter["operator"], operand: LineFilterOperand): OperandCondition | undefined {
  const { kind, value } = operand;
  if (kind !== "text" || value === "" || !value.isWellFormed()) return undefined;
  switch (operator) {
    case "|=":
    case "!=":
      return { contains: containsLine(value), hint: mayContain([value], { ignoresCase: false }), isExact: true };
    case "|~":
    case "!~":
      return expressionCondition(value);
    default:
      return patternCondition(value);
  }
}

function containsLine(text: string): Statement {
  return ofLine((column) => sql`position(${column}, ${bind.text(text)}) > 0`);
}

/** The line of an event without a body is its name. */
function ofLine(condition: (column: Statement) => Statement): Statement {
  return sql`(${condition(sql`body`)} AND body != '' OR body = '' AND ${condition(sql`event_name`)})`;
}

/** Whether a dot matches a newline does not matter here: with `s` more lines match, and those are not exact. */
function expressionCondition(value: string): OperandCondition | undefined {
  const expression = storeExpression(value);
  if (expression === undefined) return undefined;
  const { hasDot, ignoresCase, literals, text } = expression;
  return {
    contains: ofLine((column) => sql`match(${column}, ${bind.text(`(?s)${text}`)})`),
    hint: mayContain(literals, { ignoresCase }),
    isExact: !hasDot,
  };
}

/** The texts between the wildcards of a pattern. */
function patternCondition(pattern: string): OperandCondition | undefined {
  const texts = pattern.split("<_>").filter((text) => text !== "");
  if (texts.length === 0 || texts.some((text) => /[<>]/.test(text))) return undefined;
  return {
    contains: allOf(texts.map(containsLine)),
    hint: mayContain(texts, { ignoresCase: false }),
    isExact: false,
  };
}
