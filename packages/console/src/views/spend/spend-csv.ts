/** Saves spend by group and day as comma-separated values with exact amounts. */
import { labelOf, type SpendRow, type SpendSummary } from "./spend-data.ts";

const amounts = [
  "currency",
  "cost",
  "calls",
  "unpriced_calls",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
] as const satisfies readonly (keyof SpendRow)[];

export function downloadSpend({ by, days }: SpendSummary): void {
  const isNamed = by === "key" || by === "organization";
  const heading = ["day", by, ...(isNamed ? ["name"] : []), ...amounts];
  const rows = days.data.map((row) => [
    row.group["day"] ?? "",
    harmless(row.group[by] ?? ""),
    ...(isNamed ? [harmless(labelOf(row, by))] : []),
    ...amounts.map((name) => String(row[name])),
  ]);
  const lines = [heading, ...rows].map((cells) => `${cells.map(quoted).join(",")}\r\n`);
  const url = URL.createObjectURL(new Blob(lines, { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `spend-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Spreadsheets run texts that begin so as formulas. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
