/** `sounding traces`: lists the newest traces, or shows one of them as a tree. */
import { ApiStatusError, type AsyncSounding } from "@sounding/client";
import { readInteger } from "../admin-options.ts";
import { CliError, UsageError } from "../cli-error.ts";
import { command } from "../command.ts";
import { connectionOptions, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeJson, writeLine } from "../output.ts";
import { suggestion } from "../parse-command-line.ts";
import { renderTrace } from "../telemetry/render-trace.ts";
import { shortestId, writeTraces } from "../telemetry/trace-list.ts";
import { timeOptions } from "../terminal/times.ts";

export const tracesCommand = command({
  name: "traces",
  summary: "List traces, or show one as a tree",
  description: `Without an ID, lists the newest traces of the key's organization, newest first. A trace with the status "✓ 2 failed" succeeded
although two of its spans failed. With several filters, one span must match all of them. The tokens are those of all model calls, and the cost is shown if the server's configuration
has prices. With an ID, shows the trace's spans as a tree with their durations. With --json, prints the server's response unchanged. The key needs the permission telemetry_read.`,
  arguments: [{ name: "trace-id", description: "ID of the trace to show, or at least its first 8 digits." }],
  options: {
    preset: {
      type: "string",
      short: "p",
      value: "NAME",
      description:
        "Which traces: inference_traces, agent_traces, error_traces, slow_traces, or a preset of the server's configuration. Default: all.",
    },
    status: {
      type: "string",
      short: "s",
      value: "STATUS",
      choices: ["error"],
      description: "Only traces with a failed span; the same as --preset error_traces.",
    },
    service: { type: "string", value: "NAME", description: "Only traces with a span of this service." },
    model: { type: "string", value: "ID", description: "Only traces with a span of this model." },
    conversation: { type: "string", value: "ID", description: "Only traces of this conversation or session." },
    user: { type: "string", value: "ID", description: "Only traces with a span of this end user." },
    key: { type: "string", value: "ID", description: "Only traces with a call through Sounding with this API key." },
    search: {
      type: "string",
      value: "TEXT",
      description: "Only traces with a span that contains this text, in its name, attributes or recorded content.",
    },
    "min-duration": {
      type: "string",
      value: "MS",
      description: "Only traces with a span that took at least this long, in milliseconds.",
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
    ["sounding traces --status error --since 1h", "Show the failed traces of the last hour."],
    ["sounding traces --model gpt-4o --min-duration 5000", "Show traces with a slow call of a model."],
    ["sounding traces 5b8efff798038103d269b633813fc60c", "Show one trace as a tree."],
    ["sounding traces 5b8efff79803 --attributes", "The same, with everything that was recorded."],
  ],
  async run({ values, positionals, json, io }) {
    const client = await openClient({ ...values, project: undefined }, io);
    const [traceId] = positionals;
    const query = {
      trace: presetOf(values),
      project_name: values.project,
      service_name: values.service,
      model: values.model,
      conversation_id: values.conversation,
      user_id: values.user,
      key_id: values.key,
      search: values.search,
      min_duration_ms:
        values["min-duration"] === undefined ? undefined : readInteger("min-duration", values["min-duration"]),
      time_window: values.since,
      limit: readInteger("limit", values.limit),
      detail: false,
    };
    if (traceId === undefined) {
      const result = await explainUnknown(client.traces.query(query, { signal: io.signal }), query.trace);
      if (json) await writeJson(io.stdout, result);
      else if (result.traces.length === 0) await writeLine(io.stderr, noTraces(values));
      else await writeTraces(result.traces, io, values);
      return exitCodes.ok;
    }
    const whole = await wholeTraceId(client, traceId, {
      project: values.project,
      since: values.since,
      signal: io.signal,
    });
    const lookup = { trace: "all_traces", project_name: values.project, trace_id: whole };
    const result = await client.traces.query(lookup, { signal: io.signal });
    const [trace] = result.traces;
    if (trace === undefined) throw new CliError(`the trace ${traceId} does not exist`, exitCodes.notFound);
    await (json ? writeJson(io.stdout, result) : write(io.stdout, renderTrace(trace, result, io, values)));
    return exitCodes.ok;
  },
});

const defaultPreset = "all_traces";

function presetOf({ preset, status }: { preset?: string | undefined; status?: string | undefined }): string {
  if (status === undefined) return preset ?? defaultPreset;
  if (preset !== undefined) throw new UsageError("--status and --preset cannot be combined");
  return "error_traces";
}

interface Listed {
  readonly since: string;
  readonly project?: string | undefined;
  readonly service?: string | undefined;
  readonly model?: string | undefined;
  readonly conversation?: string | undefined;
  readonly search?: string | undefined;
  readonly "min-duration"?: string | undefined;
}

function noTraces({ since, project, ...values }: Listed): string {
  const filters = [values.service, values.model, values.conversation, values.search, values["min-duration"]];
  if (filters.some((filter) => filter !== undefined)) return `No traces match in the last ${since}.`;
  const where = project === undefined ? "" : ` in the project ${JSON.stringify(project)}`;
  return `No traces${where} in the last ${since}. \`sounding project list\` lists the projects that have telemetry.`;
}

/** Adds the nearest name to the server's error about an unknown preset. */
async function explainUnknown<Answer>(answer: Promise<Answer>, preset: string): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.param !== "trace") throw error;
    const names = [...error.message.matchAll(/"(?<name>\w+)"/g)].map(({ groups }) => groups!["name"]!);
    const known = names.filter((name) => name !== preset);
    throw new UsageError(`--preset is ${JSON.stringify(preset)}; ${suggestion(preset, known)}`);
  }
}

interface Where {
  readonly project: string | undefined;
  readonly since: string;
  readonly signal: AbortSignal;
}

/** How many of the newest traces are searched for the start of an ID. */
const searchedTraces = 1000;

/** The trace whose ID starts with the given digits, among the newest ones. */
async function wholeTraceId(client: AsyncSounding, given: string, { project, since, signal }: Where): Promise<string> {
  const digits = given.toLowerCase();
  if (!/^[0-9a-f]+$/.test(digits) || digits.length > 32 || digits.length < shortestId) {
    throw new UsageError(
      `trace-id is ${JSON.stringify(given)}; it must be 32 hexadecimal digits, or at least the first ${shortestId}`,
    );
  }
  if (digits.length === 32) return digits;
  const query = {
    trace: defaultPreset,
    project_name: project,
    time_window: since,
    limit: searchedTraces,
    detail: false,
  };
  const { traces } = await client.traces.query(query, { signal });
  const found = traces.map(({ traceID }) => traceID).filter((id) => id.startsWith(digits));
  if (found.length === 1) return found[0]!;
  if (found.length > 1) throw new UsageError(`several traces start with ${given}: ${found.join(", ")}`);
  throw new CliError(
    `no trace starts with ${given} among the newest ${searchedTraces} of the last ${since}; give all 32 digits, or a longer --since`,
    exitCodes.notFound,
  );
}
