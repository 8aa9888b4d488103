/** Writes spend as a table with a bar for each group, or as CSV. */
import type { Spend } from "@sounding/client";
import type { CommandIo } from "../command.ts";
import { write, writeLine } from "../output.ts";
import { formatCount, formatMoney, formatShort } from "../terminal/numbers.ts";
import { writeTable, type Column } from "../terminal/table.ts";

type Row = Spend["data"][number];
type Amounts = Spend["totals"][number];

const widestBar = 24;
const blocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar for a share of the longest one; what is there is visible, however small. */
function barOf(share: number): string {
  const eighths = share <= 0 ? 0 : Math.max(1, Math.round(share * widestBar * blocks.length));
  return "█".repeat(Math.floor(eighths / blocks.length)) + blocks[eighths % blocks.length]!;
}

export async function showSpend(spend: Spend, io: CommandIo): Promise<void> {
  const { by, data, totals, truncated } = spend;
  const highest = Math.max(...data.map(({ cost }) => Number(cost)), 0);
  const hasUnpriced = data.some(({ unpriced_calls: unpriced }) => unpriced > 0);
  const hasCurrencies = new Set(data.map(({ currency }) => currency)).size > 1;
  const number = { align: "right", whole: true } as const;
  const columns: Column[] = [
    ...by.map((name) => ({ title: name })),
    ...(hasCurrencies ? [{ title: "currency", whole: true }] : []),
    { title: "cost", ...number },
    { title: "", optional: 1, least: 4 },
    { title: "calls", ...number },
    ...(hasUnpriced ? [{ title: "without price", ...number, optional: 2 }] : []),
    { title: "tokens in", ...number, optional: 4 },
    { title: "tokens out", ...number, optional: 3 },
  ];
  const rows = data.map((row) => [
    ...by.map((name) => labelOf(row, name)),
    ...(hasCurrencies ? [row.currency] : []),
    costOf(row),
    { text: highest === 0 ? "" : barOf(Number(row.cost) / highest), style: "cyan" as const },
    formatCount(row.calls),
    ...(hasUnpriced ? [formatCount(row.unpriced_calls)] : []),
    formatShort(row.input_tokens),
    formatShort(row.output_tokens),
  ]);
  if (by.length > 0) await writeTable(io, columns, rows);
  for (const total of totals) await writeLine(io.stdout, `${by.length > 0 ? "\n" : ""}${totalOf(total, spend)}`);
  if (truncated) await writeLine(io.stdout, "There are more groups, which are part of the total; --limit shows more.");
}

/** The name that people know, where there is one. */
function labelOf({ group, key_name: key, organization_name: organization }: Row, name: string): string {
  const value = group[name] ?? null;
  const known = name === "key" ? key : name === "organization" ? organization : undefined;
  return known ?? value ?? "(none)";
}

/** What is not known is not 0. */
function costOf({ cost, unpriced_calls: unpriced }: Amounts): string {
  return unpriced > 0 && cost === "0" ? "unknown" : formatMoney(Number(cost));
}

function totalOf(total: Amounts, { end, start, time_zone: zone }: Spend): string {
  const { calls, cost, currency, input_tokens: input, output_tokens: output, unpriced_calls: unpriced } = total;
  const counted = `${formatCount(calls)} ${calls === 1 ? "call" : "calls"}, ${formatCount(input)} tokens in, ${formatCount(output)} out`;
  const unknown =
    unpriced === 0 ? "" : ` The cost of ${formatCount(unpriced)} is unknown, because their models have no price.`;
  return `Total: ${cost} ${currency} for ${counted}, from ${start} to ${end}; days in ${zone}.${unknown}`;
}

const amountColumns = [
  "currency",
  "cost",
  "calls",
  "unpriced_calls",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
] as const satisfies readonly (keyof Amounts)[];

/** All groups with exact amounts. https://www.rfc-editor.org/rfc/rfc4180 */
export async function writeSpendCsv({ by, data }: Spend, io: Pick<CommandIo, "stdout">): Promise<void> {
  const names = [
    ...(by.includes("key") ? (["key_name"] as const) : []),
    ...(by.includes("organization") ? (["organization_name"] as const) : []),
  ];
  await write(io.stdout, lineOf([...by, ...names, ...amountColumns]));
  for (const row of data) {
    const groups = by.map((name) => row.group[name] ?? "");
    const texts = [...groups, ...names.map((name) => row[name] ?? "")].map(harmless);
    await write(io.stdout, lineOf([...texts, ...amountColumns.map((name) => String(row[name]))]));
  }
}

/** Spreadsheets run texts that begin so as formulas. https://owasp.org/www-community/attacks/CSV_Injection */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\r\n`;
}
