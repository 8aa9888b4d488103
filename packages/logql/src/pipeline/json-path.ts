/** The expressions of `json label="expression"`: `a.b[0]["c d"]`. */
import { inputLimit } from "@sounding/promql/input-limit";
import { invalidQuery } from "./invalid-query.ts";

const maximumSteps = inputLimit({
  area: "LogQL",
  bounds: "Names and indexes of one JSON expression",
  value: 64,
  error: "invalid_request",
});

/** A member's name or the index of an element. */
export type JsonPath = readonly (string | number)[];

const first = /[ \t\n]*([a-zA-Z_]\w*)/y;
const next = /[ \t\n]*(?:\.[ \t\n]*([a-zA-Z_]\w*)|\[[ \t\n]*(?:(\d+)|"([^"\]]*)")[ \t\n]*\])/y;

/** @throws QueryError for an invalid expression */
export function parseJsonPath(expression: string): JsonPath {
  const path: (string | number)[] = [];
  const text = expression.replace(/[ \t\n]+$/, "");
  let at = 0;
  while (at < text.length) {
    const pattern = at === 0 && !/^[ \t\n]*\[/.test(text) ? first : next;
    pattern.lastIndex = at;
    const step = pattern.exec(text);
    if (step === null || (at === 0 && text.trimStart().startsWith("."))) break;
    path.push(step[2] === undefined ? (step[1] ?? step[3]!) : Number(step[2]));
    at = pattern.lastIndex;
  }
  if (at < text.length || path.length === 0) {
    throw invalidQuery(`cannot parse expression [${expression}]: write a path such as a.b[0]["c d"]`);
  }
  if (path.length > maximumSteps) {
    throw invalidQuery(
      `cannot parse expression: it has ${path.length} names and indexes, the limit is ${maximumSteps}`,
    );
  }
  return path;
}
