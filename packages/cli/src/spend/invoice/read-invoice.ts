/** Reads the exports of a vendor and adds them up by day and model. */
import { CliError } from "../../cli-error.ts";
import { CsvError, readCsv } from "./csv-rows.ts";
import {
  columnsInWords,
  invoiceFormats,
  toInvoiceRow,
  type InvoiceEntry,
  type InvoiceFormat,
} from "./invoice-formats.ts";
import { modelIdentity } from "./model-identity.ts";

export const measures = ["input_tokens", "output_tokens", "cost"] as const;
export type Measure = (typeof measures)[number];

interface Invoiced {
  readonly amount: bigint;
  readonly rounding: bigint;
}

/** The sums of a day and a model. */
export interface InvoiceSum {
  readonly date: string;
  /** Undefined: of all models. */
  readonly model: string | undefined;
  readonly amounts: Map<Measure, Invoiced>;
}

const mostSums = 100_000;

export class InvoiceSums {
  readonly sums = new Map<string, InvoiceSum>();
  /** What the files have, and whether it is by model. */
  readonly measures = new Map<Measure, { readonly isByModel: boolean }>();
  currency: string | undefined;

  /** @throws CliError that names the file, and the line or the columns */
  async addFile(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      await this.#read(chunks);
    } catch (error) {
      if (error instanceof CliError) throw new CliError(`${name}, ${error.message}`);
      throw new CliError(`${name} cannot be read: ${(error as Error).message}`);
    }
  }

  async #read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    let format: InvoiceFormat | undefined;
    let positions: ReadonlyMap<string, number> = new Map();
    for await (const row of readCsv(chunks)) {
      if (format === undefined) {
        positions = positionsOf(row.cells, row.line);
        format = formatOf(positions);
        continue;
      }
      if (row.cells.length !== positions.size) {
        throw new CsvError(row.line, `the row has ${row.cells.length} values; the header has ${positions.size}`);
      }
      const entry = format.read(toInvoiceRow(row, positions));
      if (entry !== undefined) this.#add(entry, row.line);
    }
    if (format === undefined) throw new CliError("line 1: the file is empty; expected a header");
  }

  #add({ cost, date, inputTokens, model, outputTokens }: InvoiceEntry, line: number): void {
    const id = JSON.stringify([date, model === undefined ? null : modelIdentity(model)]);
    let sum = this.sums.get(id);
    if (sum === undefined) {
      if (this.sums.size >= mostSums) throw new CsvError(line, `there are more than ${mostSums} days and models`);
      this.sums.set(id, (sum = { date, model, amounts: new Map() }));
    }
    const add = (measure: Measure, amount: bigint, rounding = 0n): void => {
      const isByModel = model !== undefined;
      if ((this.measures.get(measure)?.isByModel ?? isByModel) !== isByModel) {
        throw new CsvError(line, "some rows name a model and some do not; export the file grouped by model");
      }
      this.measures.set(measure, { isByModel });
      const before = sum.amounts.get(measure) ?? { amount: 0n, rounding: 0n };
      sum.amounts.set(measure, { amount: before.amount + amount, rounding: before.rounding + rounding });
    };
    if (inputTokens !== undefined) add("input_tokens", inputTokens);
    if (outputTokens !== undefined) add("output_tokens", outputTokens);
    if (cost === undefined) return;
    this.currency ??= cost.currency;
    if (this.currency !== cost.currency) {
      throw new CsvError(line, `the amount is in ${cost.currency}, an earlier one in ${this.currency}`);
    }
    add("cost", cost.amount, cost.rounding);
  }
}

/** @throws CsvError for a column that appears twice */
function positionsOf(cells: readonly string[], line: number): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim().toLowerCase().replaceAll(/\s+/g, "_");
    if (positions.has(name)) throw new CsvError(line, `the column ${JSON.stringify(name)} appears twice`);
    positions.set(name, index);
  }
  return positions;
}

const shownColumns = 30;

function formatOf(positions: ReadonlyMap<string, number>): InvoiceFormat {
  const format = invoiceFormats.find(({ columns }) =>
    columns.every((column) => [column].flat().some((name) => positions.has(name))),
  );
  if (format !== undefined) return format;
  const found = [...positions.keys()].slice(0, shownColumns).map((name) => name.slice(0, 60));
  const known = invoiceFormats.map((each) => `${columnsInWords(each)} (${each.name})`);
  throw new CsvError(1, `the columns are ${found.join(", ")}; expected ${known.join("; ")}`);
}
