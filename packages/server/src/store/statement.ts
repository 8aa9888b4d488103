/**
 * Builds SQL statements from text in our source code and bound parameters. Run-time strings cannot become part of the SQL text,
 * so callers' input is never parsed as SQL.
 */

type Scalar = string | number | bigint;

/** A value to bind, with its SQL type. Created by `bind`. */
export class Parameter {
  readonly type: string;
  /** The value as ClickHouse parses parameters: with tab-separated escaping. */
  readonly encoded: string;
  /** A conversion to wrap around the value, if one is needed. */
  readonly conversion: "time" | undefined;

  constructor(type: string, encoded: string, conversion?: "time") {
    this.type = type;
    this.encoded = encoded;
    this.conversion = conversion;
  }
}

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
};

function escapeText(value: string): string {
  // eslint-disable-next-line no-control-regex -- NUL is among what must be escaped
  return value.toWellFormed().replaceAll(/[\\'\t\n\r\0]/g, (character) => escapes[character]!);
}

function encodeNumber(value: number | bigint | string): string {
  const text = String(value);
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$|^NaN$|^-?Infinity$/.test(text)) {
    throw new TypeError(`${JSON.stringify(text)} is not a number.`);
  }
  return text.replace("Infinity", "inf").replace("NaN", "nan");
}

function numeric(type: string): (value: number | bigint | string) => Parameter {
  return (value) => new Parameter(type, encodeNumber(value));
}

function numbers(type: string): (values: readonly Scalar[]) => Parameter {
  return (values) => new Parameter(`Array(${type})`, `[${values.map(encodeNumber).join(",")}]`);
}

/** Bound parameters by type. 64-bit integers can be a bigint or decimal text. */
export const bind = {
  text: (value: string): Parameter => new Parameter("String", escapeText(value)),
  uint8: numeric("UInt8"),
  uint32: numeric("UInt32"),
  uint64: numeric("UInt64"),
  int64: numeric("Int64"),
  float: numeric("Float64"),
  /** A time in nanoseconds since 1970, for comparison with DateTime64 columns. */
  time: (unixNano: bigint | string): Parameter => new Parameter("Int64", encodeNumber(unixNano), "time"),
  texts: (values: readonly string[]): Parameter =>
    new Parameter("Array(String)", `[${values.map((value) => `'${escapeText(value)}'`).join(",")}]`),
  uint64s: numbers("UInt64"),
  floats: numbers("Float64"),
} as const;

/** The organization of the reader. Every statement must compare `organization` with it. */
export const callerOrganization = new Parameter("String", "");
export const organizationParameterName = "organization";
/** ClickHouse's setting that filters every table by the organization; each tenant's query has it, and nothing else. */
export const organizationFilterSetting = "additional_table_filters";

type Part = Parameter | Statement;

/** A statement or part of one. Only `sql` and `join` create one. */
export class Statement {
  readonly #pieces: readonly string[];
  readonly #parts: readonly Part[];

  private constructor(pieces: readonly string[], parts: readonly Part[]) {
    this.#pieces = pieces;
    this.#parts = parts;
  }

  /** Implements `sql`. The frozen template object proves that the text is a literal in our source. */
  static fromTemplate(template: TemplateStringsArray, parts: readonly Part[]): Statement {
    if (!Object.isFrozen(template) || !Array.isArray(template.raw)) {
      throw new TypeError("A statement's text must be a template literal in the source.");
    }
    return new Statement(template, parts);
  }

  /** The SQL with `{p0:Type}` for each parameter, and the parameters' encoded values by name. */
  render(): { text: string; parameters: Map<string, string> } {
    const parameters = new Map<string, string>();
    const text = this.#renderInto(parameters);
    return { text, parameters };
  }

  #renderInto(parameters: Map<string, string>): string {
    let text = this.#pieces[0]!;
    for (const [index, part] of this.#parts.entries()) {
      text += part instanceof Statement ? part.#renderInto(parameters) : place(part, parameters);
      text += this.#pieces[index + 1]!;
    }
    return text;
  }
}

function place(parameter: Parameter, parameters: Map<string, string>): string {
  const name = parameter === callerOrganization ? organizationParameterName : `p${parameters.size}`;
  parameters.set(name, parameter.encoded);
  const placeholder = `{${name}:${parameter.type}}`;
  return parameter.conversion === "time" ? `fromUnixTimestamp64Nano(${placeholder}, 'UTC')` : placeholder;
}

/** A template tag for SQL. `${…}` accepts only parameters (`bind.…`, `callerOrganization`) and other statements. */
export function sql(template: TemplateStringsArray, ...parts: readonly Part[]): Statement {
  return Statement.fromTemplate(template, parts);
}

/** Joins statements with a separator, such as conditions with `AND`. Empty for an empty list. */
export function join(pieces: readonly Statement[], between: Statement): Statement {
  const [first, ...rest] = pieces;
  return rest.reduce((joined, piece) => sql`${joined}${between}${piece}`, first ?? sql``);
}
