/** Renders one trace for people: a heading, and a line for each span with its duration and its place in time. */
import { styleText } from "node:util";
import type { SpanAttribute, TracesResult } from "@sounding/client";
import type { CommandIo } from "../command.ts";
import { oneLine } from "../output.ts";
import { formatDuration, formatTimeMs, type TimeOptions } from "../terminal/times.ts";
import { cutToWidth, padToWidth, widthOf } from "../terminal/text-width.ts";
import { linesOfTrace, type Trace, type TreeLine, type TreeNode } from "./trace-tree.ts";

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

export interface RenderOptions extends TimeOptions {
  /** Whether to list the attributes and events of each span. */
  readonly attributes?: boolean | undefined;
}

const durationWidth = 8;
const gap = "  ";
const longestBar = 30;
/** Narrower terminals do not show the services, so that names have room. */
const widthForServices = 100;

/** The text of one trace, at most as wide as the terminal. */
export function renderTrace(
  trace: Trace,
  result: TracesResult,
  io: Pick<CommandIo, "colors" | "terminalWidth">,
  options: RenderOptions,
): string {
  const paint: Paint = (style, text) => (io.colors.stdout ? styleText(style, text, { validateStream: false }) : text);
  const lines = linesOfTrace(trace, result);
  const startNs = BigInt(trace.startTimeUnixNano);
  const endNs = lines.reduce((latest, { node }) => (node.endNs > latest ? node.endNs : latest), startNs);
  const rows = lines.map((line) => describe(line, startNs, endNs));
  const widths = columnWidths(rows, io.terminalWidth);
  const shown = rows.flatMap((row) => [
    renderRow(row, widths, paint),
    ...(options.attributes === true ? attributeLines(row, io.terminalWidth, paint) : []),
  ]);
  const heading = headingOf(trace, { lines, startNs, endNs }, { paint, options });
  return `${heading}\n\n${shown.join("\n")}\n`;
}

interface Extent {
  readonly lines: readonly TreeLine[];
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Two lines: the ID alone, which is what people copy, and what the trace is like. */
function headingOf(
  trace: Trace,
  { lines, startNs, endNs }: Extent,
  { paint, options }: { readonly paint: Paint; readonly options: TimeOptions },
): string {
  const errors = lines.filter(({ node }) => isFailed(node)).length;
  const facts = [
    formatTimeMs(Number(startNs / 1_000_000n), options),
    formatDuration(Number(endNs - startNs) / 1e6),
    count(lines.length, "span"),
    ...(errors === 0 ? [] : [paint("red", count(errors, "error"))]),
  ];
  return `${paint("bold", `Trace ${trace.traceID}`)}\n${facts.join(" · ")}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function isFailed({ span }: TreeNode): boolean {
  return span.status.code === "STATUS_CODE_ERROR";
}

interface Row {
  readonly label: string;
  readonly service: string;
  readonly duration: string;
  /** When the span began and ended, from 0 (the trace's start) to 1 (its end). */
  readonly from: number;
  readonly to: number;
  readonly detail: string;
  readonly line: TreeLine;
}

function describe(line: TreeLine, traceStartNs: bigint, traceEndNs: bigint): Row {
  const { node, branches } = line;
  const whole = Number(traceEndNs - traceStartNs) || 1;
  const failure = `✗ ${oneLine(node.span.status.message || "error")}`;
  return {
    label: `${branches}${oneLine(node.span.name ?? "(no name)")}`,
    service: oneLine(node.service),
    duration: formatDuration(Number(node.endNs - node.startNs) / 1e6),
    from: Number(node.startNs - traceStartNs) / whole,
    to: Number(node.endNs - traceStartNs) / whole,
    detail: isFailed(node) ? failure : tokensOf(node),
    line,
  };
}

/** `812 → 96 tokens` */
function tokensOf({ span }: TreeNode): string {
  const numberOf = (name: string): number | undefined => {
    const value = span.attributes?.find(({ key }) => key === name)?.value["intValue"];
    return value === undefined ? undefined : Number(value);
  };
  const read = numberOf("gen_ai.usage.input_tokens");
  const written = numberOf("gen_ai.usage.output_tokens");
  if (read === undefined && written === undefined) return "";
  return `${read ?? 0} → ${written ?? 0} tokens`;
}

interface Widths {
  readonly label: number;
  readonly service: number;
  readonly bar: number;
  readonly detail: number;
}

/** The columns as wide as their content, or each with its share of the terminal. */
function columnWidths(rows: readonly Row[], terminalWidth: number | undefined): Widths {
  const widest = (text: (row: Row) => string): number => Math.max(0, ...rows.map((row) => widthOf(text(row))));
  const natural = { label: widest(({ label }) => label), service: widest(({ service }) => service) };
  const detail = widest((row) => row.detail);
  if (terminalWidth === undefined) return { ...natural, bar: longestBar, detail };
  const room = terminalWidth - durationWidth - 4 * gap.length;
  const bar = Math.max(8, Math.min(longestBar, Math.floor(room * 0.25)));
  const service = terminalWidth < widthForServices ? 0 : Math.min(natural.service, Math.floor(room * 0.2));
  const label = Math.min(natural.label, room - bar - service - Math.min(detail, Math.floor(room * 0.25)));
  return { label, service, bar, detail: Math.max(0, room - bar - service - label) };
}

function renderRow(row: Row, widths: Widths, paint: Paint): string {
  const failed = isFailed(row.line.node);
  const detail = cutToWidth(row.detail, widths.detail);
  return [
    padToWidth(cutToWidth(row.label, widths.label), widths.label),
    ...(widths.service === 0
      ? []
      : [paint("gray", padToWidth(cutToWidth(row.service, widths.service), widths.service))]),
    row.duration.padStart(durationWidth),
    paint(failed ? "red" : "cyan", timeBar(row, widths.bar)),
    ...(detail === "" ? [] : [paint(failed ? "red" : "gray", detail)]),
  ]
    .join(gap)
    .trimEnd();
}

function timeBar({ from, to }: Row, width: number): string {
  const first = Math.max(0, Math.min(width - 1, Math.floor(from * width)));
  const last = Math.max(first + 1, Math.min(width, Math.ceil(to * width)));
  return `${"·".repeat(first)}${"━".repeat(last - first)}${"·".repeat(width - last)}`;
}

/** The attributes and events below a span, one per line. */
function attributeLines({ line }: Row, terminalWidth: number | undefined, paint: Paint): string[] {
  const { span } = line.node;
  const indent = `${line.branches.replaceAll("─", " ").replaceAll("├", "│").replaceAll("└", " ")}    `;
  const attributes = (span.attributes ?? []).map((each) => `${each.key} = ${valueText(each)}`);
  const events = (span.events ?? []).map(
    ({ name, attributes: ofEvent }) =>
      `event ${name ?? ""}: ${(ofEvent ?? []).map((each) => `${each.key} = ${valueText(each)}`).join(", ")}`,
  );
  return [...attributes, ...events].map((text) => {
    const shown = indent + oneLine(text);
    return paint("gray", terminalWidth === undefined ? shown : cutToWidth(shown, terminalWidth));
  });
}

/** OpenTelemetry's AnyValue: plain text for a string or a number, JSON for anything that is nested. */
function valueText({ value }: SpanAttribute): string {
  const [plain] = Object.values(value);
  return typeof plain === "string" ? plain : JSON.stringify(plain ?? "");
}
