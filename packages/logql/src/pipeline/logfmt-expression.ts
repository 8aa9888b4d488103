/** The expressions of `logfmt label="expression"`: a key, plain or in quotes. */
import { invalidQuery } from "./invalid-query.ts";

const expressionText = /^[ \t\n]*(?:([a-zA-Z_]\w*)|"([^"\]]*)["\]]?)[ \t\n]*$/;

/** The name of the key. */
export function parseLogfmtExpression(expression: string): string {
  const match = expressionText.exec(expression);
  if (match === null) {
    throw invalidQuery(
      `cannot parse expression [${expression}]: write the key of a pair, in double quotes if it has other characters than ` +
        "letters, digits and _",
    );
  }
  return match[1] ?? match[2]!;
}
