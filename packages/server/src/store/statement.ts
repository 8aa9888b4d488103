/**
 * Statements as values: SQL text that stands in our source, and bound parameters for everything else. There is no way to
 * put a run-time text into a statement's SQL, so nothing that a caller sent can ever be read as SQL.
 */

/** Types of bound parameters, as ClickHouse writes them. */
export type ParameterType =
  | "String"
  | "UInt8"
  | "UInt32"
  | "UInt64"
  | "Int64"
  | "Float64"
  | "DateTime64(9, 'UTC')"
  | "Array(String)"
  | "Array(UInt64)"
  | "Array(Float64)";

export type ParameterValue = string | number | bigint | readonly (string | number | bigint)[];

export interface Parameter {
  readonly type: ParameterType;
  readonly value: ParameterValue;
}

function parameter(type: ParameterType, value: ParameterValue): Parameter {
  return { type, value };
}

/** Bound parameters by type. Times are nanoseconds since 1970. */
export const bind = {
  text: (value: string): Parameter => parameter("String", value),
  uint8: (value: number): Parameter => parameter("UInt8", value),
  uint32: (value: number): Parameter => parameter("UInt32", value),
  uint64: (value: bigint | number): Parameter => parameter("UInt64", value),
  int64: (value: bigint | number): Parameter => parameter("Int64", value),
  float: (value: number): Parameter => parameter("Float64", value),
  time: (unixNano: bigint): Parameter => parameter("DateTime64(9, 'UTC')", unixNano),
  texts: (values: readonly string[]): Parameter => parameter("Array(String)", values),
  uint64s: (values: readonly (bigint | number | string)[]): Parameter => parameter("Array(UInt64)", values),
  floats: (values: readonly number[]): Parameter => parameter("Array(Float64)", values),
} as const;

/** A statement or a piece of one. Made by `sql` and `join` alone. */
export class Statement {
  readonly #pieces: readonly string[];
  readonly #values: readonly (Parameter | Statement)[];

  private constructor(pieces: readonly string[], values: readonly (Parameter | Statement)[]) {
    this.#pieces = pieces;
    this.#values = values;
  }

  /** The tag behind `sql`: the compiler's frozen template is the proof that the text is in our source. */
  static fromTemplate(template: TemplateStringsArray, values: readonly (Parameter | Statement)[]): Statement {
    if (!Object.isFrozen(template) || !Array.isArray(template.raw)) {
      throw new TypeError("A statement's text must be a template literal in the source.");
    }
    return new Statement(template, values);
  }

  /** The SQL with `{p0:Type}` for each parameter, and the parameters by name. */
  render(): { text: string; parameters: Map<string, Parameter> } {
    const parameters = new Map<string, Parameter>();
    const text = this.#renderInto(parameters);
    return { text, parameters };
  }

  #renderInto(parameters: Map<string, Parameter>): string {
    let text = this.#pieces[0]!;
    for (const [index, value] of this.#values.entries()) {
      if (value instanceof Statement) text += value.#renderInto(parameters);
      else {
        const name = `p${parameters.size}`;
        parameters.set(name, value);
        text += `{${name}:${value.type}}`;
      }
      text += this.#pieces[index + 1]!;
    }
    return text;
  }
}

/** SQL as written here; `${…}` takes parameters (`bind.…`) and other statements, nothing else. */
export function sql(template: TemplateStringsArray, ...values: readonly (Parameter | Statement)[]): Statement {
  return Statement.fromTemplate(template, values);
}

/** Several pieces with one between each two: `join(conditions, sql` AND `)`. Empty for none. */
export function join(pieces: readonly Statement[], between: Statement): Statement {
  return (
    pieces.reduce(
      (joined: Statement | undefined, piece) => (joined === undefined ? piece : sql`${joined}${between}${piece}`),
      undefined,
    ) ?? sql``
  );
}
