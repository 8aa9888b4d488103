/** Runs a template for one entry; its work and what it writes are bounded, and long work pauses. */
import { inputLimit } from "@sounding/promql/input-limit";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { Steps } from "../run-steps.ts";
import { printValue } from "./format-value.ts";
import { charactersPerStep, checkSize, type CallContext, type TemplateFunction } from "./function.ts";
import { templateFunctions } from "./functions.ts";
import { TemplateProblem } from "./problem.ts";
import type { Operand, Pipeline, TemplateNode } from "./tree.ts";
import { charactersOf, DataMap, fieldOf, isList, isTrue, membersOf, type TemplateInput, type Value } from "./values.ts";

const maximumSteps = inputLimit({
  area: "LogQL",
  bounds:
    "Steps of a template for one entry; 64 characters that a function reads or returns are one, 4 where it looks at each, and 16 that an instruction of a regular expression looks at",
  value: 200_000,
  error: { instead: "the entry has the label `__error__`" },
});

/** What a step costs, in samples of the query's budget. */
const workPerStep = 8;
/** Steps between two questions whether a pause is due. */
const stepsPerCheck = 64;

/** What a template runs with in place of Loki's functions and an entry's labels. */
export interface TemplateSurroundings {
  /** Those that the template was parsed with. */
  readonly functions: ReadonlyMap<string, TemplateFunction>;
  /** What `.` is at first. */
  readonly dot: Value;
}

/** @throws TemplateProblem */
export function evaluateTemplate(
  nodes: readonly TemplateNode[],
  input: TemplateInput,
  budget: YieldBudget,
  surroundings: TemplateSurroundings = { functions: templateFunctions, dot: new DataMap(input.data) },
): Steps<string> {
  return new Run(input, budget, surroundings).all(nodes);
}

interface Variable {
  readonly name: string;
  value: Value;
}

/** Why the nodes of a list end early. */
type Jump = "break" | "continue" | undefined;

class Run implements CallContext {
  readonly line: string;
  readonly unixNano: bigint;
  readonly #variables: Variable[];
  readonly #budget: YieldBudget;
  readonly #functions: ReadonlyMap<string, TemplateFunction>;
  #text = "";
  #steps = 0;
  /** How many of the steps the budget knows. */
  #spent = 0;

  constructor({ line, unixNano }: TemplateInput, budget: YieldBudget, { dot, functions }: TemplateSurroundings) {
    this.#budget = budget;
    this.#functions = functions;
    this.line = line;
    this.unixNano = unixNano;
    this.#variables = [{ name: "$", value: dot }];
  }

  *all(nodes: readonly TemplateNode[]): Steps<string> {
    try {
      yield* this.#list(nodes, this.#variables[0]!.value);
    } finally {
      // A template that fails has worked, too.
      if (this.#isPauseDue(1)) yield this.#budget.yield();
    }
    return this.#text;
  }

  /** @param least how many steps are worth asking for */
  #isPauseDue(least: number): boolean {
    const steps = this.#steps - this.#spent;
    if (steps < least) return false;
    this.#spent = this.#steps;
    return this.#budget.spend(steps * workPerStep);
  }

  readonly spend = (steps: number): void => {
    this.#steps += steps;
    if (this.#steps > maximumSteps) throw new TemplateProblem(`the template needs more than ${maximumSteps} steps`);
  };

  *#list(nodes: readonly TemplateNode[], dot: Value): Steps<Jump> {
    for (const node of nodes) {
      this.spend(1);
      if (this.#isPauseDue(stepsPerCheck)) yield this.#budget.yield();
      switch (node.kind) {
        case "text":
          this.#write(node.text);
          break;
        case "action": {
          const value = this.#pipeline(node.pipeline, dot);
          if (node.pipeline.variables.length === 0) this.#write(printValue(value));
          break;
        }
        case "break":
        case "continue":
          return node.kind;
        default: {
          const known = this.#variables.length;
          const jump = yield* node.kind === "range" ? this.#range(node, dot) : this.#branch(node, dot);
          this.#variables.length = known;
          if (jump !== undefined) return jump;
        }
      }
    }
    return undefined;
  }

  #write(text: string): void {
    checkSize(this.#text.length + text.length);
    this.#text += text;
  }

  *#branch(node: TemplateNode & { kind: "if" | "with" | "range" }, dot: Value): Steps<Jump> {
    const value = this.#pipeline(node.pipeline, dot);
    if (!isTrue(value)) return yield* this.#list(node.otherwise, dot);
    return yield* this.#list(node.body, node.kind === "with" ? value : dot);
  }

  *#range(node: TemplateNode & { kind: "if" | "with" | "range" }, dot: Value): Steps<undefined> {
    const { variables } = node.pipeline;
    const value = this.#pipeline({ ...node.pipeline, variables: [] }, dot);
    let isEmpty = true;
    for (const [key, one] of this.#elements(value)) {
      isEmpty = false;
      this.spend(1);
      if (this.#isPauseDue(stepsPerCheck)) yield this.#budget.yield();
      const known = this.#variables.length;
      if (variables.length === 1) this.#setVariable(variables[0]!, one, node.pipeline.assigns);
      if (variables.length === 2) {
        this.#setVariable(variables[0]!, key, node.pipeline.assigns);
        this.#setVariable(variables[1]!, one, node.pipeline.assigns);
      }
      const jump = yield* this.#list(node.body, one);
      this.#variables.length = known;
      if (jump === "break") break;
    }
    if (isEmpty) yield* this.#list(node.otherwise, dot);
  }

  *#elements(value: Value): Generator<readonly [key: Value, element: Value]> {
    if (typeof value === "bigint") {
      for (let index = 0n; index < value; index++) yield [index, index];
    } else if (value instanceof DataMap || value instanceof Map) {
      const members = membersOf(value as DataMap);
      this.spend(members.length);
      yield* members;
    } else if (value !== null && typeof value === "object" && isList(value)) {
      for (const [index, one] of value.entries()) yield [BigInt(index), one];
    } else if (value !== null) {
      throw new TemplateProblem(`range can't iterate over ${printValue(value)}`);
    }
  }

  #setVariable(name: string, value: Value, assigns: boolean): void {
    const known = assigns ? this.#variables.findLast((variable) => variable.name === name) : undefined;
    if (known === undefined) this.#variables.push({ name, value });
    else known.value = value;
  }

  #pipeline({ assigns, commands, variables }: Pipeline, dot: Value): Value {
    let value: Value | undefined;
    for (const operands of commands) value = this.#command(operands, dot, value);
    for (const name of variables) this.#setVariable(name, value!, assigns);
    return value!;
  }

  /** @param piped the value of the command before */
  #command(operands: readonly Operand[], dot: Value, piped: Value | undefined): Value {
    const [operand, ...others] = operands;
    const first = operand!;
    if (first.kind === "function") return this.#call(first.name, others, dot, piped);
    if (others.length > 0 || piped !== undefined) {
      const what =
        first.kind === "field"
          ? `${first.names.at(-1)} is not a method but has arguments`
          : "can't give argument to non-function";
      throw new TemplateProblem(what);
    }
    if (first.kind === "nil") throw new TemplateProblem("nil is not a command");
    return this.#operand(first, dot);
  }

  #call(name: string, operands: readonly Operand[], dot: Value, piped: Value | undefined): Value {
    this.spend(1);
    const called = this.#functions.get(name)!;
    const count = operands.length + (piped === undefined ? 0 : 1);
    if (count < called.least || count > called.most) {
      const wanted = called.most === called.least ? String(called.least) : `at least ${called.least}`;
      throw new TemplateProblem(`wrong number of args for ${name}: want ${wanted} got ${count}`);
    }
    if (name === "and" || name === "or") return this.#choose(name, operands, dot, piped);
    const values = operands.map((operand) => this.#operand(operand, dot));
    if (piped !== undefined) values.push(piped);
    let characters = 0;
    for (const value of values) characters += charactersOf(value);
    this.spend(Math.ceil(characters / called.charactersPerStep));
    const result = called.call(values, this);
    this.spend(Math.ceil(charactersOf(result) / charactersPerStep));
    return result;
  }

  /** The first operand that decides, or the last one. */
  #choose(name: "and" | "or", operands: readonly Operand[], dot: Value, piped: Value | undefined): Value {
    let value: Value = null;
    for (const operand of operands) {
      value = this.#operand(operand, dot);
      if (isTrue(value) === (name === "or")) return value;
    }
    return piped ?? value;
  }

  #operand(operand: Operand, dot: Value): Value {
    switch (operand.kind) {
      case "dot":
        return dot;
      case "nil":
        return null;
      case "literal":
        return operand.value;
      case "field":
        return fieldsOf(dot, operand.names);
      case "variable": {
        const variable = this.#variables.findLast(({ name }) => name === operand.name);
        return fieldsOf(variable!.value, operand.names);
      }
      case "function":
        return this.#call(operand.name, [], dot, undefined);
      case "pipeline":
        return fieldsOf(this.#pipeline(operand.pipeline, dot), operand.names);
    }
  }
}

function fieldsOf(value: Value, names: readonly string[]): Value {
  let field = value;
  for (const name of names) field = fieldOf(field, name);
  return field;
}
