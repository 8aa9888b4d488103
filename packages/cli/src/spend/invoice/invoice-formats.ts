/**
 * The CSV files that vendors export, by their columns.
 * https://help.openai.com/en/articles/8554956-understanding-your-api-usage
 */
import { CsvError, type CsvRow } from "./csv-rows.ts";

/** Costs are in this part of a currency's unit. */
export const costDigits = 15;

export interface InvoiceEntry {
  /** In UTC. */
  readonly date: string;
  /** As the vendor writes it; undefined if the row is of all models. */
  readonly model: string | undefined;
  /** Cached ones included. */
  readonly inputTokens?: bigint;
  readonly outputTokens?: bigint;
  readonly cost?: InvoicedCost;
}

interface InvoicedCost {
  readonly amount: bigint;
  /** By how much the vendor may have rounded it. */
  readonly rounding: bigint;
  /** Upper case. */
  readonly currency: string;
}

/** A row's values by column. */
export interface InvoiceRow {
  readonly line: number;
  /** Empty if the file does not have the column. */
  text(column: string): string;
}

export interface InvoiceFormat {
  readonly name: string;
  /** All are needed; of a list, one. */
  readonly columns: readonly (string | readonly string[])[];
  /** Undefined for a row without usage. @throws CsvError */
  read(row: InvoiceRow): InvoiceEntry | undefined;
}

const openaiTime = ["start_time", "start_time_iso"] as const;

export const invoiceFormats: readonly InvoiceFormat[] = [
  {
    name: "OpenAI's usage",
    columns: [openaiTime, "model", "input_tokens"],
    read(row) {
      const [inputTokens, outputTokens] = ["input_tokens", "output_tokens"].map((column) => tokensOf(row, column));
      if (inputTokens === 0n && outputTokens === 0n && row.text("model") === "") return undefined;
      return {
        date: openaiDate(row),
        model: row.text("model") || undefined,
        inputTokens: inputTokens!,
        outputTokens: outputTokens!,
      };
    },
  },
  {
    name: "OpenAI's costs",
    columns: [openaiTime, "amount_value", "amount_currency"],
    read(row) {
      if (row.text("amount_value") === "") return undefined;
      // Such as `gpt-4o-2024-08-06, input`.
      const [model = ""] = row.text("line_item").split(",");
      const cost = costOf(row, "amount_value", row.text("amount_currency"));
      return { date: openaiDate(row), model: model.trim() || undefined, cost };
    },
  },
  {
    name: "Anthropic's usage",
    columns: ["usage_date_utc", ["model_version", "model"], "usage_input_tokens_no_cache", "usage_output_tokens"],
    read(row) {
      const input = [
        "usage_input_tokens_no_cache",
        "usage_input_tokens_cache_write",
        "usage_input_tokens_cache_write_5m",
        "usage_input_tokens_cache_write_1h",
        "usage_input_tokens_cache_read",
      ];
      return {
        date: dateOf(row, "usage_date_utc"),
        model: row.text("model_version") || row.text("model") || undefined,
        inputTokens: input.reduce((sum, column) => sum + tokensOf(row, column), 0n),
        outputTokens: tokensOf(row, "usage_output_tokens"),
      };
    },
  },
  {
    name: "Anthropic's costs",
    columns: ["usage_date_utc", "model", "cost_usd"],
    read(row) {
      if (row.text("cost_usd") === "") return undefined;
      const model = row.text("model") || row.text("cost_type") || undefined;
      return { date: dateOf(row, "usage_date_utc"), model, cost: costOf(row, "cost_usd", "USD") };
    },
  },
];

export function columnsInWords({ columns }: InvoiceFormat): string {
  return columns.map((column) => (typeof column === "string" ? column : column.join(" or "))).join(", ");
}

/** Columns without a place in the row are empty. */
export function toInvoiceRow({ cells, line }: CsvRow, positions: ReadonlyMap<string, number>): InvoiceRow {
  return { line, text: (column) => cells[positions.get(column) ?? -1]?.trim() ?? "" };
}

function invalid({ line, text }: InvoiceRow, column: string, expected: string): CsvError {
  return new CsvError(line, `${column} is ${JSON.stringify(text(column).slice(0, 100))}; expected ${expected}`);
}

/** Some exports write whole numbers as `12.0`. */
function tokensOf(row: InvoiceRow, column: string): bigint {
  const text = row.text(column);
  if (text === "") return 0n;
  const digits = /^(?<whole>\d{1,18})(?:\.0+)?$/.exec(text)?.groups?.["whole"];
  if (digits !== undefined) return BigInt(digits);
  throw invalid(row, column, "a whole number");
}

function costOf(row: InvoiceRow, column: string, currency: string): InvoicedCost {
  const groups = /^(?<sign>-?)(?<whole>\d{1,15})(?:\.(?<fraction>\d{1,60}))?(?:e(?<exponent>[+-]?\d{1,2}))?$/i.exec(
    row.text(column),
  )?.groups;
  if (groups === undefined) throw invalid(row, column, "an amount such as 0.0509");
  if (!/^[a-z]{3}$/i.test(currency)) throw invalid(row, "amount_currency", "a currency such as usd");
  const { exponent = "0", fraction = "", sign, whole = "0" } = groups;
  // The value is digits times ten to the power of -scale.
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  const amount = shift(digits, costDigits - scale);
  const rounding = shift(5n, costDigits - scale - 1);
  return { amount: sign === "-" ? -amount : amount, rounding, currency: currency.toUpperCase() };
}

function shift(value: bigint, places: number): bigint {
  return places >= 0 ? value * 10n ** BigInt(places) : value / 10n ** BigInt(-places);
}

const secondsPerDay = 86_400;

function openaiDate(row: InvoiceRow): string {
  const [start, end] = [row.text("start_time"), row.text("end_time")];
  if (start === "") return dateOf(row, "start_time_iso");
  if (!/^\d{9,10}$/.test(start)) throw invalid(row, "start_time", "a UNIX time in seconds");
  if (/^\d+$/.test(end) && Number(end) - Number(start) > secondsPerDay) {
    throw invalid(row, "end_time", "at most a day after start_time: export the usage by day");
  }
  return new Date(Number(start) * 1000).toISOString().slice(0, 10);
}

/** A date, or a time in UTC. */
function dateOf(row: InvoiceRow, column: string): string {
  const text = row.text(column);
  const date = /^(?<date>\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:?00)?)?$/.exec(text)?.groups?.[
    "date"
  ];
  const ms = Date.parse(`${date}T00:00:00Z`);
  if (date !== undefined && !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)) return date;
  throw invalid(row, column, "a date or a time in UTC, such as 2026-11-28");
}
