/** `sounding spend check`: reads a vendor's exports, asks the server for its spend, and shows the differences. */
import { createReadStream } from "node:fs";
import { CliError, UsageError } from "../cli-error.ts";
import type { CommandIo, OptionValues } from "../command.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { formatCount } from "../terminal/numbers.ts";
import { writeTable } from "../terminal/table.ts";
import { compareSpend, type Compared, type Comparison } from "./invoice/compare-spend.ts";
import { invoiceFormats } from "./invoice/invoice-formats.ts";
import { InvoiceSums, type Measure } from "./invoice/read-invoice.ts";
import { openSpend, readSpendFilters, type spendFilterOptions } from "./spend-query.ts";

interface CheckValues extends OptionValues<typeof spendFilterOptions> {
  readonly invoice: readonly string[];
  readonly tolerance: string;
  readonly by: string;
  readonly rename?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
}

/** More groups cannot be read at once. */
const mostGroups = 10_000;

export function describeFormats(): string {
  const [last, ...others] = invoiceFormats.map(({ name }) => name).reverse();
  return `Known files: ${others.reverse().join(", ")} and ${last}.`;
}

export async function checkInvoices(
  values: CheckValues,
  { io, json }: { readonly io: CommandIo; readonly json: boolean },
): Promise<ExitCode> {
  const tolerancePercent = readTolerance(values.tolerance);
  const names = new Map((values.rename ?? []).map(readName));
  const invoice = new InvoiceSums();
  for (const file of values.invoice) {
    const chunks = file === "-" ? io.stdin : createReadStream(file, { signal: io.signal });
    await invoice.addFile(file, chunks as AsyncIterable<Uint8Array>);
  }
  const dates = [...invoice.sums.values()].map(({ date }) => date).sort();
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined || last === undefined) throw new CliError("the files have no usage");
  const read = await openSpend(values, io);
  const spend = await read(
    {
      ...readSpendFilters(values),
      by: "day,model",
      start: first,
      end: dayAfter(last),
      time_zone: "UTC",
      limit: mostGroups,
    },
    { signal: io.signal },
  );
  if (spend.truncated) {
    throw new CliError(`there are more than ${mostGroups} days and models; check fewer days, or name an --engine`);
  }
  const includesOthers = values.engine !== undefined || values.model !== undefined;
  const isByDay = values.by === "day";
  const compared = compareSpend(invoice, spend, { isByDay, tolerancePercent, names, includesOthers });
  const exceeding = compared.rows.filter(({ exceeds }) => exceeds);
  if (json) {
    const { leftOut, rows, totals } = compared;
    const counts = { compared: rows.length, exceeding: exceeding.length, tolerance_percent: tolerancePercent };
    const range = { first_day: first, last_day: last, currency: invoice.currency ?? null };
    await writeJson(io.stdout, { object: "spend_check", ...range, ...counts, rows, totals, models_left_out: leftOut });
  } else
    await show(compared, {
      io,
      shown: values.all === true ? compared.rows : exceeding,
      tolerancePercent,
      range: `${first} to ${last}`,
    });
  return exceeding.length === 0 ? exitCodes.ok : exitCodes.failed;
}

function dayAfter(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

function readTolerance(text: string): number {
  const value = /^\d{1,3}(?:\.\d{1,6})?$/.test(text) ? Number(text) : NaN;
  if (value <= 100) return value;
  throw new UsageError(`--tolerance is ${JSON.stringify(text)}; it must be a number of percent from 0 to 100`);
}

function readName(text: string): [ours: string, theirs: string] {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--rename is ${JSON.stringify(text)}; it must be your name of a model, "=" and the vendor's`);
}

const measureNames: Readonly<Record<Measure, string>> = {
  input_tokens: "tokens in",
  output_tokens: "tokens out",
  cost: "cost",
};

interface Shown {
  readonly io: CommandIo;
  readonly shown: readonly Comparison[];
  readonly tolerancePercent: number;
  readonly range: string;
}

async function show({ leftOut, rows, totals }: Compared, { io, range, shown, tolerancePercent }: Shown): Promise<void> {
  const number = { align: "right", whole: true } as const;
  if (shown.length > 0) {
    await writeTable(
      io,
      [
        { title: "day", whole: true },
        "model",
        { title: "what", whole: true },
        { title: "counted", ...number },
        { title: "invoiced", ...number },
        { title: "difference", ...number },
        { title: "", optional: 1 },
      ],
      shown.map((row) => [row.day ?? "all", row.model ?? "all", ...cellsOf(row), noteOf(row)]),
    );
    await writeLine(io.stdout, "");
  }
  await writeLine(io.stdout, `From ${range}, in UTC:`);
  await writeTable(
    io,
    [{ title: "total", whole: true }, ...["counted", "invoiced", "difference"].map((title) => ({ title, ...number }))],
    totals.map(cellsOf),
  );
  const exceeding = rows.filter(({ exceeds }) => exceeds).length;
  const allowed = `${tolerancePercent} % and the vendor's rounding`;
  await writeLine(
    io.stdout,
    exceeding === 0
      ? `\nAll ${formatCount(rows.length)} numbers are equal within ${allowed}.`
      : `\n${formatCount(exceeding)} of ${formatCount(rows.length)} numbers differ by more than ${allowed}.`,
  );
  if (leftOut.length === 0) return;
  await writeLine(
    io.stdout,
    `Left out, because no file names them: ${leftOut.join(", ")}. Use --rename if they are models of the vendor, or --engine.`,
  );
}

function cellsOf(row: Comparison): string[] {
  const amount = (text: string): string => (row.measure === "cost" ? text : formatCount(Number(text)));
  return [measureNames[row.measure], amount(row.counted), amount(row.invoiced), differenceOf(row)];
}

function differenceOf({ counted, difference_percent: percent }: Comparison): string {
  if (percent === null) return counted === "0" ? "0 %" : "not invoiced";
  if (percent === -100) return "not counted";
  return `${percent > 0 ? "+" : ""}${Number(percent.toFixed(3))} %`;
}

function noteOf({ exceeds, unpriced_calls: unpriced }: Comparison): string {
  const notes = [
    exceeds ? "" : "within tolerance",
    unpriced === 0 ? "" : `${formatCount(unpriced)} calls have no price`,
  ];
  return notes.filter((note) => note !== "").join(", ");
}
