/** `sounding logs`: shows log entries, the newest last, and follows new ones. */
import { command } from "../command.ts";
import { readInteger } from "../admin-options.ts";
import { connectionOptions, numberOption, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { entriesOf, entryJson, followLogs, formatEntry, type LogEntry } from "../telemetry/log-entries.ts";

export const logsCommand = command({
  name: "logs",
  summary: "Show log entries, or follow new ones",
  description: `Shows the newest entries of the key's organization, oldest first. With --json, each entry is one JSON object per line with
timestamp_ns, message and labels. The key needs the permission telemetry_read.`,
  options: {
    severity: {
      type: "string",
      short: "s",
      value: "LEVEL",
      choices: ["debug", "info", "warning", "error"],
      description: "Only entries with exactly this level.",
    },
    since: { type: "string", value: "WINDOW", default: "24h", description: "How far to look back: 15m, 24h, 7d." },
    limit: {
      type: "string",
      short: "n",
      value: "COUNT",
      default: "100",
      description: "Maximum number of entries, 1 to 5000.",
    },
    follow: { type: "boolean", short: "f", description: "Keep printing new entries until Ctrl-C." },
    interval: { type: "string", value: "SECONDS", default: "1", description: "Polling interval of --follow." },
    ...connectionOptions,
    project: { type: "string", value: "NAME", description: "Only entries of this project." },
  },
  examples: [
    ["sounding logs --severity error --since 1h", "Show the errors of the last hour."],
    ["sounding logs --follow --project checkout", "Follow the log of a project."],
    ["sounding logs --json | jq .message", "Print only the messages."],
  ],
  async run({ values, json, io }) {
    const client = await openClient({ ...values, project: undefined }, io);
    const filter = {
      project_name: values.project,
      severity: values.severity as "debug" | "info" | "warning" | "error" | undefined,
    };
    const show = (entry: LogEntry): Promise<void> =>
      json ? writeJson(io.stdout, entryJson(entry)) : writeLine(io.stdout, formatEntry(entry, io.colors.stdout));
    const { signal } = io;
    const query = { ...filter, time_window: values.since, limit: readInteger("limit", values.limit) };
    const entries = entriesOf(await client.logs.query(query, { signal }));
    for (const entry of entries) await show(entry);
    if (values.follow !== true) {
      if (entries.length === 0 && !json) await writeLine(io.stderr, `No entries in the last ${values.since}.`);
      return exitCodes.ok;
    }
    const intervalMs = Math.max(0.1, numberOption("interval", values.interval) ?? 1) * 1000;
    for await (const entry of followLogs(client, filter, { signal, intervalMs, seen: entries })) await show(entry);
    return exitCodes.ok;
  },
});
