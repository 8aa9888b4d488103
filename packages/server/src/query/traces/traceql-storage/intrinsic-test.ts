/** Conditions on what a span has besides its attributes, in SQL over `spans`. */
import type { Intrinsic } from "@sounding/traceql/syntax/ast";
import { durationNanos, hasSealedMessage } from "../../../store/row-expressions.ts";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { exactly, never, or, undecided, type Approximation, type Bound } from "./approximation.ts";
import { compared, textCondition } from "./attribute-test.ts";
import { kindNames, statusNames } from "./span-codes.ts";
import { describedTest } from "./described-test.ts";
import type { FieldTest } from "./field-test.ts";

export function intrinsicTest(intrinsic: Intrinsic, test: FieldTest): Approximation {
  const { operator, value } = test;
  if (value.type === "nil") return existence(intrinsic, operator);
  switch (intrinsic) {
    case "duration":
      return durationTest(test);
    case "name":
      return textTest(sql`name`, test);
    case "statusMessage":
      return messageTest(test);
    case "span:id":
      return textTest(sql`span_id`, test);
    case "span:parentID":
      return textTest(sql`parent_span_id`, test);
    case "status":
      return value.type === "status"
        ? codeTest(sql`status_code`, operator, statusNames.indexOf(value.value))
        : other(test);
    case "kind":
      return value.type === "kind" ? codeTest(kindCode, operator, kindNames.indexOf(value.value)) : other(test);
    case "trace:id":
      return traceIdTest(test);
    case "nestedSetParent":
      return rootTest(test);
    case "event:name":
    case "event:timeSinceStart":
    case "link:traceID":
    case "link:spanID":
      return { may: sql`has_details = 1`, must: false };
    case "instrumentation:name":
      return describedTest(sql`scope_id`, sql`scopes`, textTest(sql`name`, test));
    case "instrumentation:version":
      return describedTest(sql`scope_id`, sql`scopes`, textTest(sql`version`, test));
    default:
      return undecided;
  }
}

/** Numbers that OTLP does not define count as unspecified. */
const kindCode = sql`if(kind > 5, 0, kind)`;

function existence(intrinsic: Intrinsic, operator: FieldTest["operator"]): Approximation {
  if (operator !== "=" && operator !== "!=") return never;
  switch (intrinsic) {
    case "duration":
    case "name":
    case "status":
    case "statusMessage":
    case "kind":
    case "trace:id":
    case "span:id":
    case "span:parentID":
    case "instrumentation:name":
    case "instrumentation:version":
      return exactly(operator === "!=");
    case "event:name":
    case "event:timeSinceStart":
    case "link:traceID":
    case "link:spanID":
      return { may: sql`has_details = 1`, must: false };
    default:
      return undecided;
  }
}

/** Values of other types fulfil no comparison; the engine compares with each item of an array. */
function other({ value }: FieldTest): Approximation {
  return value.type === "array" ? undecided : never;
}

/** @param condition what rows with a value fulfil */
export function textTest(text: Statement, test: FieldTest, condition: Bound = true): Approximation {
  if (test.value.type !== "string") return other(test);
  const holds = textCondition(text, test.operator, test.value.value);
  if (holds === undefined) return undecided;
  return exactly(condition === true || condition === false ? condition && holds : sql`(${holds} AND ${condition})`);
}

/** The engine compares messages that are encrypted. */
function messageTest(test: FieldTest): Approximation {
  const decided = textTest(sql`status_message`, test);
  if (typeof decided.may === "boolean") return decided;
  return { may: or(decided.may, hasSealedMessage), must: sql`(${decided.may} AND NOT ${hasSealedMessage})` };
}

function codeTest(code: Statement, operator: FieldTest["operator"], number: number): Approximation {
  if (operator !== "=" && operator !== "!=") return never;
  return exactly(compared(code, operator, bind.uint8(number)));
}

function durationTest(test: FieldTest): Approximation {
  const { operator, value } = test;
  if (operator === "=~" || operator === "!~") return never;
  if (value.type === "duration" || value.type === "int") {
    const nanos = value.type === "int" ? value.value : value.nanoseconds;
    return exactly(compared(durationNanos, operator, bind.int64(nanos)));
  }
  if (value.type !== "float") return other(test);
  return exactly(compared(sql`toFloat64(${durationNanos})`, operator, bind.float(value.value)));
}

/** With or without leading zeros, in lower or upper case. */
function traceIdTest(test: FieldTest): Approximation {
  const { operator, value } = test;
  if (operator !== "=" || value.type !== "string") return undecided;
  if (!/^[\da-f]{0,32}$/i.test(value.value)) return never;
  return exactly(sql`trace_id = ${bind.text(value.value.toLowerCase().padStart(32, "0"))}`);
}

/** `nestedSetParent < 0` selects roots. */
function rootTest({ operator, value }: FieldTest): Approximation {
  const isRoot = operator === "<" && value.type === "int" && value.value === 0n;
  return isRoot ? exactly(sql`parent_span_id = ''`) : undecided;
}
