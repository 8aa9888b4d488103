/** Expressions that are only words: they need no engine. */

/** Words without operators other than `|`; special characters may be escaped. */
const onlyWords = /^(?:[^\\.+*?()[\]{}^$]|\\[!-/:-@[-`{-~])*$/;

/** The words of a list such as `a|b\.c`, undefined for any other expression. */
export function wordList(expression: string): ReadonlySet<string> | undefined {
  if (!onlyWords.test(expression)) return undefined;
  const words = [""];
  for (const [token] of expression.matchAll(/\\?[^]/g)) {
    if (token === "|") words.push("");
    else words[words.length - 1] += token.length === 2 ? token[1]! : token;
  }
  return new Set(words);
}
