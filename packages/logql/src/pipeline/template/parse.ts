/** Parses templates; their size and nesting are bounded. */
import { inputLimit } from "@sounding/promql/input-limit";
import { tokenizeTemplate, type TemplateToken } from "./lexer.ts";
import { TemplateProblem } from "./problem.ts";
import type { Operand, Pipeline, TemplateNode } from "./tree.ts";

const maximumLevels = inputLimit({
  area: "LogQL",
  bounds: "Levels of nesting of a template",
  value: 100,
  error: "invalid_request",
});

/** @throws TemplateProblem for an invalid template */
export function parseTemplate(template: string, functions: ReadonlyMap<string, unknown>): readonly TemplateNode[] {
  return new Parser(tokenizeTemplate(template), functions).all();
}

type Ending = "end" | "else" | "end of text";

class Parser {
  readonly #tokens: readonly TemplateToken[];
  readonly #functions: ReadonlyMap<string, unknown>;
  #at = 0;
  #levels = 0;
  #loops = 0;
  #variables = ["$"];

  constructor(tokens: readonly TemplateToken[], functions: ReadonlyMap<string, unknown>) {
    this.#tokens = tokens;
    this.#functions = functions;
  }

  all(): readonly TemplateNode[] {
    const { ending, nodes } = this.#list();
    if (ending !== "end of text") throw new TemplateProblem(`unexpected {{${ending}}}`);
    return nodes;
  }

  #list(): { readonly nodes: readonly TemplateNode[]; readonly ending: Ending } {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const token = this.#tokens[this.#at++]!;
      if (token.kind === "end") return { nodes, ending: "end of text" };
      if (token.kind === "text") {
        nodes.push(token);
        continue;
      }
      this.#skipSpace();
      const keyword = this.#peekWord();
      if (keyword === "end" || keyword === "else") {
        this.#at++;
        if (keyword === "end") this.#close();
        return { nodes, ending: keyword };
      }
      nodes.push(this.#action(keyword));
    }
  }

  #action(keyword: string | undefined): TemplateNode {
    switch (keyword) {
      case "if":
      case "with":
      case "range":
        this.#at++;
        return this.#control(keyword);
      case "break":
      case "continue":
        this.#at++;
        if (this.#loops === 0) throw new TemplateProblem(`{{${keyword}}} outside {{range}}`);
        this.#close();
        return { kind: keyword };
      case "define":
      case "block":
      case "template":
        throw new TemplateProblem(`{{${keyword}}} is not supported: a query has one template`);
      default: {
        const pipeline = this.#pipeline("command", "close");
        return { kind: "action", pipeline };
      }
    }
  }

  #control(kind: "if" | "with" | "range"): TemplateNode {
    this.#deeper();
    const known = this.#variables.length;
    const pipeline = this.#pipeline(kind, "close");
    if (kind === "range") this.#loops++;
    const { ending, nodes: body } = this.#list();
    if (kind === "range") this.#loops--;
    let otherwise: readonly TemplateNode[] = [];
    if (ending === "end of text") throw new TemplateProblem("unexpected EOF");
    if (ending === "else") {
      this.#skipSpace();
      const next = this.#peekWord();
      if (next !== undefined && next === kind && kind !== "range") {
        // `{{else if}}` shares the `{{end}}`.
        this.#at++;
        otherwise = [this.#control(kind)];
      } else {
        this.#close();
        const rest = this.#list();
        if (rest.ending !== "end") throw new TemplateProblem(`expected end; found ${rest.ending}`);
        otherwise = rest.nodes;
      }
    }
    this.#variables.length = known;
    this.#levels--;
    return { kind, pipeline, body, otherwise };
  }

  #deeper(): void {
    if (++this.#levels > maximumLevels) throw new TemplateProblem(`more than ${maximumLevels} levels of nesting`);
  }

  #pipeline(context: string, until: "close" | ")"): Pipeline {
    const { assigns, variables } = this.#declarations(context);
    const commands: (readonly Operand[])[] = [];
    for (;;) {
      const operands = this.#command();
      if (operands.length === 0) throw new TemplateProblem(`missing value for ${context}`);
      const [first] = operands;
      if (
        commands.length > 0 &&
        first!.kind !== "function" &&
        first!.kind !== "field" &&
        first!.kind !== "variable" &&
        first!.kind !== "pipeline"
      ) {
        throw new TemplateProblem(`non executable command in pipeline stage ${commands.length + 1}`);
      }
      commands.push(operands);
      const token = this.#tokens[this.#at++]!;
      if (token.kind === "operator" && token.text === "|") continue;
      const ends = until === "close" ? token.kind === "close" : token.kind === "operator" && token.text === ")";
      if (!ends) throw new TemplateProblem(`unexpected ${describe(token)} in ${context}`);
      return { variables, assigns, commands };
    }
  }

  #declarations(context: string): { variables: readonly string[]; assigns: boolean } {
    const start = this.#at;
    const names: string[] = [];
    for (;;) {
      this.#skipSpace();
      const token = this.#tokens[this.#at++]!;
      if (token.kind !== "variable") break;
      names.push(token.text);
      this.#skipSpace();
      const operator = this.#tokens[this.#at++]!;
      if (operator.kind !== "operator") break;
      if (operator.text === "," && context === "range" && names.length === 1) continue;
      if (operator.text !== ":=" && operator.text !== "=") break;
      if (operator.text === ":=") this.#variables.push(...names);
      else for (const name of names) this.#checkVariable(name);
      return { variables: names, assigns: operator.text === "=" };
    }
    this.#at = start;
    return { variables: [], assigns: false };
  }

  #checkVariable(name: string): void {
    if (!this.#variables.includes(name)) throw new TemplateProblem(`undefined variable ${JSON.stringify(name)}`);
  }

  #command(): readonly Operand[] {
    const operands: Operand[] = [];
    for (;;) {
      this.#skipSpace();
      const operand = this.#operand();
      if (operand === undefined) return operands;
      operands.push(operand);
      const next = this.#tokens[this.#at]!;
      if (next.kind === "space" || next.kind === "close") continue;
      if (next.kind === "operator" && (next.text === "|" || next.text === ")")) continue;
      throw new TemplateProblem(`unexpected ${describe(next)} in operand`);
    }
  }

  #operand(): Operand | undefined {
    const token = this.#tokens[this.#at]!;
    switch (token.kind) {
      case "string":
      case "number":
        this.#at++;
        return { kind: "literal", value: token.value };
      case "field":
        return { kind: "field", names: this.#fields() };
      case "variable":
        this.#at++;
        this.#checkVariable(token.text);
        return { kind: "variable", name: token.text, names: this.#fields() };
      case "word":
        this.#at++;
        return this.#word(token.text);
      case "operator":
        if (token.text === ".") {
          this.#at++;
          return { kind: "dot" };
        }
        if (token.text !== "(") return undefined;
        this.#at++;
        this.#deeper();
        try {
          return { kind: "pipeline", pipeline: this.#pipeline("parenthesized pipeline", ")"), names: this.#fields() };
        } finally {
          this.#levels--;
        }
      default:
        return undefined;
    }
  }

  #word(word: string): Operand {
    if (word === "true" || word === "false") return { kind: "literal", value: word === "true" };
    if (word === "nil") return { kind: "nil" };
    if (!this.#functions.has(word)) throw new TemplateProblem(`function ${JSON.stringify(word)} not defined`);
    return { kind: "function", name: word };
  }

  /** `.a.b` without space between. */
  #fields(): readonly string[] {
    const names: string[] = [];
    for (let token = this.#tokens[this.#at]!; token.kind === "field"; token = this.#tokens[++this.#at]!) {
      names.push(token.text);
    }
    return names;
  }

  #peekWord(): string | undefined {
    const token = this.#tokens[this.#at]!;
    return token.kind === "word" ? token.text : undefined;
  }

  #skipSpace(): void {
    while (this.#tokens[this.#at]!.kind === "space") this.#at++;
  }

  #close(): void {
    this.#skipSpace();
    const token = this.#tokens[this.#at++]!;
    if (token.kind !== "close") throw new TemplateProblem(`unexpected ${describe(token)} in action`);
  }
}

function describe(token: TemplateToken): string {
  if ("text" in token) return JSON.stringify(token.text);
  return "value" in token ? JSON.stringify(String(token.value)) : token.kind;
}
