/**
 * Reads comma-separated values as they arrive, with bounded memory. Tabs and semicolons separate values, too, if the header has
 * them. https://www.rfc-editor.org/rfc/rfc4180
 */
import { CliError } from "../../cli-error.ts";

export interface CsvRow {
  /** Where the row begins; the first line is 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

const longestRow = 65_536;
const mostCells = 256;
const mostBytes = 2_000_000_000;

const delimiters = new Set([",", "\t", ";"]);

/** @throws CliError that names the line */
export class CsvError extends CliError {
  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
  }
}

/** Empty lines are left out. @throws CsvError */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const reader = new CsvReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new CsvError(reader.line, `the file has more than ${mostBytes} bytes`);
    yield* reader.read(decode(decoder, chunk, reader.line));
  }
  yield* reader.read(decode(decoder, undefined, reader.line));
  yield* reader.end();
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array | undefined, line: number): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new CsvError(line, "the text after this line is not UTF-8");
  }
}

type State = "start" | "plain" | "quoted" | "quote_in_quoted";

class CsvReader {
  /** The current one. */
  line = 1;
  #rowLine = 1;
  #state: State = "start";
  #cells: string[] = [];
  #cell = "";
  /** Characters of the row. */
  #length = 0;
  #delimiter: string | undefined;
  #isAfterReturn = false;

  *read(text: string): Generator<CsvRow> {
    for (const character of text) {
      if (this.#isAfterReturn && character === "\n") {
        this.#isAfterReturn = false;
        if (this.#state === "quoted") this.#cell += character;
        continue;
      }
      this.#isAfterReturn = character === "\r";
      if (this.#take(character)) yield* this.#endRow();
    }
  }

  *end(): Generator<CsvRow> {
    if (this.#state === "quoted") throw new CsvError(this.#rowLine, "a quoted value does not end");
    if (this.#state !== "start" || this.#cells.length > 0) yield* this.#endRow();
  }

  /** @returns whether the row ends before this character */
  #take(character: string): boolean {
    this.#length += character.length;
    if (this.#length > longestRow) throw new CsvError(this.#rowLine, `the row has more than ${longestRow} characters`);
    if (character === "\0") throw new CsvError(this.line, "the file is not text: it has a NUL character");
    const isLineEnd = character === "\n" || character === "\r";
    if (this.#state === "quoted") {
      if (character === '"') this.#state = "quote_in_quoted";
      else this.#cell += character;
      if (isLineEnd) this.line += 1;
      return false;
    }
    if (isLineEnd) {
      this.line += 1;
      return true;
    }
    if (this.#isDelimiter(character)) {
      this.#endCell();
      return false;
    }
    if (character === '"' && this.#state !== "plain") {
      // Two quotes in a quoted value are one quote.
      if (this.#state === "quote_in_quoted") this.#cell += '"';
      this.#state = "quoted";
      return false;
    }
    if (this.#state === "quote_in_quoted") throw new CsvError(this.line, "text follows the end of a quoted value");
    this.#state = "plain";
    this.#cell += character;
    return false;
  }

  #isDelimiter(character: string): boolean {
    if (this.#delimiter === undefined && delimiters.has(character)) this.#delimiter = character;
    return character === this.#delimiter;
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    if (this.#cells.length > mostCells) throw new CsvError(this.#rowLine, `the row has more than ${mostCells} values`);
    this.#cell = "";
    this.#state = "start";
  }

  *#endRow(): Generator<CsvRow> {
    const isEmpty = this.#state === "start" && this.#cells.length === 0;
    if (!isEmpty) {
      this.#endCell();
      yield { line: this.#rowLine, cells: this.#cells };
    }
    this.#cells = [];
    this.#length = 0;
    this.#rowLine = this.line;
  }
}
