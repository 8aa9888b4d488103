/** `sounding logs`: finds log entries, shows them with the newest last, and follows new ones. */
import { command } from "../command.ts";
import { readInteger } from "../admin-options.ts";
import { UsageError } from "../cli-error.ts";
import { connectionOptions, numberOption, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { entryJson, followLogs, newestEntries, type LogEntry, type LogFilter } from "../telemetry/log-entries.ts";
import { renderLogEntry } from "../telemetry/render-log-entry.ts";
import { describeRange, rangeOptions, readTimeRange } from "../telemetry/time-range.ts";
import { timeOptions } from "../terminal/times.ts";

const levels = ["debug", "info", "warning", "error"] as const;
type Level = (typeof levels)[number];

export const logsCommand = command({
  name: "logs",
  summary: "Search log entries, or follow new ones",
  description: `Shows the newest entries of the key's organization, oldest first. With a text, shows only entries whose message contains it, in
upper or lower case. An entry must match all filters. With --json, each entry is one JSON object per line with timestamp_ns,
message and labels, and with --attributes also attributes. The key needs the permission telemetry_read.`,
  arguments: [{ name: "text", description: "Only entries whose message contains this text." }],
  options: {
    severity: {
      type: "string",
      short: "s",
      value: "LEVEL",
      choices: levels,
      description: "Only entries with exactly this level.",
    },
    "min-severity": {
      type: "string",
      short: "m",
      value: "LEVEL",
      choices: levels,
      description: "Only entries with this level or a higher one.",
    },
    service: { type: "string", value: "NAME", description: "Only entries of this service." },
    trace: { type: "string", value: "ID", description: "Only entries of this trace." },
    attribute: {
      type: "string",
      value: "NAME=VALUE",
      multiple: true,
      description: "Only entries with this attribute, of the log record or its resource.",
    },
    ...rangeOptions,
    limit: {
      type: "string",
      short: "n",
      value: "COUNT",
      default: "100",
      description: "Maximum number of entries, at least 1.",
    },
    attributes: { type: "boolean", short: "a", description: "Show attributes and stack traces." },
    follow: { type: "boolean", short: "f", description: "Keep printing new entries until Ctrl-C." },
    interval: { type: "string", value: "SECONDS", default: "1", description: "Polling interval of --follow." },
    ...timeOptions,
    ...connectionOptions,
    project: { type: "string", value: "NAME", description: "Only entries of this project." },
  },
  examples: [
    ["sounding logs --min-severity warning --since 1h", "Show the warnings and errors of the last hour."],
    [
      'sounding logs "card declined" --service shop --attributes',
      "Search for a text; show attributes and stack traces.",
    ],
    ["sounding logs --trace 5b8efff798038103d269b633813fc60c", "Show the log of one trace."],
    [
      "sounding logs --attribute user.id=42 --since 2027-01-31 --until 2027-02-01",
      "Show what happened to a user on a day.",
    ],
    ["sounding logs --follow --project checkout", "Follow the log of a project."],
    ["sounding logs --json --limit 20000 | jq .message", "Print only the messages."],
  ],
  async run({ values, positionals, json, io }) {
    const client = await openClient({ ...values, project: undefined }, io);
    const filter: LogFilter = {
      project_name: values.project,
      severity: values.severity as Level | undefined,
      min_severity: values["min-severity"] as Level | undefined,
      search: positionals[0],
      service_name: values.service,
      trace_id: values.trace,
      attributes: readAttributes(values.attribute),
      detail: values.attributes,
    };
    const show = (entry: LogEntry): Promise<void> =>
      json ? writeJson(io.stdout, entryJson(entry)) : writeLine(io.stdout, renderLogEntry(entry, io, values));
    const { signal } = io;
    if (values.follow === true && values.until !== undefined) {
      throw new UsageError("--follow and --until exclude each other; use one of them");
    }
    const query = { ...filter, ...readTimeRange(values, Date.now()), limit: readInteger("limit", values.limit) };
    const entries = await newestEntries(client, query, signal);
    for (const entry of entries) await show(entry);
    if (values.follow !== true) {
      if (entries.length === 0 && !json) await writeLine(io.stderr, `No entries ${describeRange(values)}.`);
      return exitCodes.ok;
    }
    const intervalMs = Math.max(0.1, numberOption("interval", values.interval) ?? 1) * 1000;
    for await (const entry of followLogs(client, filter, { signal, intervalMs, seen: entries })) await show(entry);
    return exitCodes.ok;
  },
});

/** Throws UsageError. */
function readAttributes(texts: readonly string[] = []): Record<string, string> | undefined {
  const pairs = texts.map((text): [string, string] => {
    const at = text.indexOf("=");
    if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
    throw new UsageError(`--attribute is ${JSON.stringify(text)}; it must be NAME=VALUE`);
  });
  const repeated = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) < index);
  if (repeated !== undefined) throw new UsageError(`--attribute has ${repeated[0]} twice; send each name once`);
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}
