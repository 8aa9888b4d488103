/** `sounding traces`: lists the newest traces, or shows one of them as a tree. */
import { readInteger } from "../admin-options.ts";
import { CliError } from "../cli-error.ts";
import { command } from "../command.ts";
import { connectionOptions, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeJson, writeLine } from "../output.ts";
import { renderTrace } from "../telemetry/render-trace.ts";
import { writeTable } from "../terminal/table.ts";
import { formatDuration, formatTime, timeOptions } from "../terminal/times.ts";

export const tracesCommand = command({
  name: "traces",
  summary: "List traces, or show one as a tree",
  description: `Without an ID, lists the newest traces of the key's organization, newest first. With an ID, shows the trace's spans as a tree
with their durations. With --json, prints the server's response unchanged. The key needs the permission telemetry_read.`,
  arguments: [{ name: "trace-id", description: "ID of the trace to show: 32 hexadecimal digits." }],
  options: {
    preset: {
      type: "string",
      short: "p",
      value: "NAME",
      default: "all_traces",
      description:
        "Which traces: inference_traces, agent_traces, error_traces, slow_traces, or a preset of the server's configuration.",
    },
    since: { type: "string", value: "WINDOW", default: "24h", description: "How far to look back: 15m, 24h, 7d." },
    limit: {
      type: "string",
      short: "n",
      value: "COUNT",
      default: "20",
      description: "Maximum number of traces, 1 to 1000.",
    },
    attributes: {
      type: "boolean",
      short: "a",
      description: "With an ID: show the attributes and events of each span.",
    },
    ...timeOptions,
    ...connectionOptions,
    project: { type: "string", value: "NAME", description: "Only traces of this project." },
  },
  examples: [
    ["sounding traces --preset error_traces --since 1h", "Show the failed traces of the last hour."],
    ["sounding traces 5b8efff798038103d269b633813fc60c", "Show one trace as a tree."],
  ],
  async run({ values, positionals, json, io }) {
    const client = await openClient({ ...values, project: undefined }, io);
    const { signal } = io;
    const [traceId] = positionals;
    const filter = { trace: values.preset, project_name: values.project };
    if (traceId !== undefined) {
      const result = await client.traces.query({ ...filter, trace_id: traceId }, { signal });
      const [trace] = result.traces;
      if (trace === undefined) throw new CliError(`the trace ${traceId} does not exist`, exitCodes.notFound);
      await (json ? writeJson(io.stdout, result) : write(io.stdout, renderTrace(trace, result, io, values)));
      return exitCodes.ok;
    }
    const limit = readInteger("limit", values.limit);
    const query = { ...filter, time_window: values.since, limit, detail: false };
    const result = await client.traces.query(query, { signal });
    if (json) {
      await writeJson(io.stdout, result);
    } else if (result.traces.length === 0) {
      await writeLine(io.stderr, `No traces in the last ${values.since}.`);
    } else {
      const rows = result.traces.map((trace) => [
        trace.traceID,
        formatTime(Number(BigInt(trace.startTimeUnixNano) / 1_000_000n), values),
        formatDuration(trace.durationMs),
        trace.rootServiceName,
        trace.rootTraceName,
      ]);
      await writeTable(io, ["trace", "began", "took", "service", "name"], rows);
    }
    return exitCodes.ok;
  },
});
