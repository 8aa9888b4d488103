/** Renders a log entry for people: time, level, project and service, message, and on request its attributes. */
import { styleText } from "node:util";
import type { CommandIo } from "../command.ts";
import { oneLine, printable } from "../output.ts";
import { widthOf } from "../terminal/text-width.ts";
import { formatTimeMs, type TimeOptions } from "../terminal/times.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import type { LogEntry } from "./log-entries.ts";

const levelStyles = { debug: "gray", info: "cyan", warning: "yellow", error: "red" } as const;

/** Labels that an entry's details show. The others are in its first line, or the same for all entries of a service. */
const shownLabels = ["trace_id", "span_id"];
const stackTrace = "exception.stacktrace";

export function renderLogEntry(
  { attributes, labels, message, timestampNs }: LogEntry,
  { colors, terminalWidth }: Pick<CommandIo, "colors" | "terminalWidth">,
  times: TimeOptions,
): string {
  const style = (name: Parameters<typeof styleText>[0], text: string): string =>
    colors.stdout ? styleText(name, text, { validateStream: false }) : text;
  const severity = labels["severity"] ?? "info";
  const time = formatTimeMs(Number(timestampNs / 1_000_000n), times);
  const level = severity.toUpperCase().padEnd(7);
  const from = oneLine(`${labels["project_name"] ?? ""}/${labels["service_name"] ?? ""}`);
  const head = [
    style("gray", time),
    style(levelStyles[severity as keyof typeof levelStyles] ?? "cyan", level),
    style("bold", from),
  ].join("  ");
  const block = (text: string, used: number, indent: string): string =>
    wrapText(printable(text).trimEnd(), { width: terminalWidth, used, indent });
  const used = widthOf([time, level, from, ""].join("  "));
  const lines = [`${head}  ${block(message, used, "  ")}`.replace("  \n", "\n")];
  for (const [name, value] of attributes === undefined ? [] : detailsOf(labels, attributes)) {
    const key = oneLine(name);
    lines.push(`    ${style("gray", `${key}:`)} ${block(value, 6 + widthOf(key), "      ")}`);
  }
  const stack = attributes?.[stackTrace];
  if (stack !== undefined) lines.push(`    ${block(stack, 4, "    ")}`);
  return lines.join("\n");
}

function detailsOf(
  labels: LogEntry["labels"],
  attributes: NonNullable<LogEntry["attributes"]>,
): (readonly [string, string])[] {
  const fromLabels = shownLabels.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]] as const]));
  return [...fromLabels, ...Object.entries(attributes).filter(([name]) => name !== stackTrace)];
}
