/**
 * Decides which regular expressions the store's RE2 understands exactly like `@sounding/promql/regex`, and matches within seconds also in
 * long texts. Others are left to the engine: a statement with an expression that the store refuses would fail, and the store
 * cannot be stopped in the middle of a block of rows.
 */
import { isCheapInStore } from "./store-regex.ts";

export interface StoreExpression {
  readonly text: string;
  readonly ignoresCase: boolean;
  /** Whether `.` occurs: only there a newline can make a difference. */
  readonly hasDot: boolean;
  /** Texts that everything that matches contains. */
  readonly literals: readonly string[];
}

/** RE2 refuses expressions that repeat something more often, also by nesting. */
const mostRepetitions = 1000;

const flags = /^\(\?(?<letters>i|s|is|si)\)/;

/** No names of classes, no flags within, no groups with names, no Unicode classes. */
const token =
  /(?<escape>\\[dDwWsSbB])|\\(?<control>[tnrfv])|\\(?<special>[!-/:-@[-`{-~])|(?<set>\[\^?(?:[^\\[\]]|\\(?:[dDwWsStnrfv]|[!-/:-@[-`{-~]))+\])|(?<open>\((?:\?:)?(?!\?))|(?<close>\))|(?<or>\|)|(?<times>(?:[*+?]|\{(?<least>\d{1,4})(?:,(?<most>\d{0,4}))?\})\??)|(?<edge>[\^$])|(?<dot>\.)|(?<plain>[^\\[\]()])/uy;

const controls: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v" };

/** @returns undefined for an expression that only the engine can match */
export function storeExpression(expression: string): StoreExpression | undefined {
  if (expression.includes("\0") || !expression.isWellFormed() || !isCheapInStore(expression)) return undefined;
  const letters = flags.exec(expression)?.groups?.["letters"] ?? "";
  const literals = new Literals();
  let hasDot = false;
  let repetitions = 1;
  token.lastIndex = letters === "" ? 0 : letters.length + 3;
  while (token.lastIndex < expression.length) {
    const found = token.exec(expression)?.groups;
    if (found === undefined) return undefined;
    const { close, control, dot, least, most, open, or, plain, special, times } = found;
    if (least !== undefined) repetitions *= Math.max(1, Number(least), Number(most ?? 0));
    if (repetitions > mostRepetitions) return undefined;
    hasDot ||= dot !== undefined;
    const literal = plain ?? special ?? (control === undefined ? undefined : controls[control]);
    if (literal !== undefined) literals.add(literal);
    else if (times !== undefined) literals.repeatLast();
    else if (open !== undefined) literals.open();
    else if (close !== undefined) literals.close();
    else if (or === undefined) literals.end();
    else literals.alternative();
  }
  return { text: expression, ignoresCase: letters.includes("i"), hasDot, literals: literals.texts() };
}

/** Collects runs of plain characters outside of groups and alternatives. */
class Literals {
  readonly #texts: string[] = [];
  #run: string[] = [];
  #depth = 0;
  #hasAlternatives = false;

  add(character: string): void {
    if (this.#depth === 0) this.#run.push(character);
  }

  end(): void {
    if (this.#run.length > 0) this.#texts.push(this.#run.join(""));
    this.#run = [];
  }

  /** The last character may be absent. */
  repeatLast(): void {
    this.#run.pop();
    this.end();
  }

  open(): void {
    this.end();
    this.#depth += 1;
  }

  close(): void {
    this.#depth -= 1;
  }

  alternative(): void {
    if (this.#depth === 0) this.#hasAlternatives = true;
  }

  texts(): readonly string[] {
    this.end();
    return this.#hasAlternatives ? [] : this.#texts;
  }
}
