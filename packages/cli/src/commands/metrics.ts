/** `sounding metrics`: shows metrics by the names in docs/reference/metrics.md, or by PromQL. */
import { ApiStatusError, type AsyncSounding } from "@sounding/client";
import { UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { connectionOptions, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable, writeJson, writeLine } from "../output.ts";
import { suggestion } from "../parse-command-line.ts";
import { showSeries, type Series, type Shown } from "../telemetry/show-series.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

export const metricsCommand = command({
  name: "metrics",
  summary: "Show metrics of calls, tokens, agents and sessions",
  description: `Shows a metric of the key's organization. With --step, draws its values over time: up to four series as charts, more as lines
of bars in a table. --list shows the available metrics; --promql runs a PromQL query instead. With --json, prints the server's response unchanged. The key needs
the permission telemetry_read.`,
  arguments: [{ name: "metric", description: "A metric, such as token_consumption; see --list." }],
  options: {
    list: { type: "boolean", short: "l", description: "List the metrics and what they measure." },
    promql: { type: "string", value: "QUERY", description: "A PromQL query instead of a metric's name." },
    since: { type: "string", value: "WINDOW", default: "1h", description: "How far to look back: 15m, 1h, 7d." },
    step: { type: "string", value: "STEP", description: "Show one value per interval: 5m, 1h, 1d." },
    service: { type: "string", value: "NAME", description: "Only this service (service.name)." },
    model: { type: "string", value: "ID", description: "Only calls of this model." },
    agent: { type: "string", value: "NAME", description: "Only this agent." },
    "agent-class": { type: "string", value: "CLASS", description: "Only agents of this class." },
    session: { type: "string", value: "ID", description: "Only this session." },
    user: { type: "string", value: "ID", description: "Only calls for this end user." },
    key: { type: "string", value: "ID", description: "Only calls with this API key." },
    status: {
      type: "string",
      value: "STATUS",
      choices: ["success", "failure", "timeout"],
      description: "For agent metrics: the outcome. Default success.",
    },
    category: { type: "string", value: "CATEGORY", description: "For rejections: only those of this category." },
    percentile: {
      type: "string",
      value: "NUMBER",
      description: "For latencies: the percentile, 0.95 or 95. Default 0.95.",
    },
    ...timeOptions,
    ...connectionOptions,
    project: { type: "string", value: "NAME", description: "Only this project." },
  },
  examples: [
    ["sounding metrics token_consumption --since 24h", "Tokens by model over one day."],
    ["sounding metrics inference_latency --percentile 99 --step 5m", "The slowest calls of the last hour, as bars."],
    ["sounding metrics --promql 'sum by (model_key) (rate(inference_requests_total[5m]))'", "Any query."],
  ],
  async run({ values, positionals, json, io }) {
    const client = await openClient({ ...values, project: undefined }, io);
    const { signal } = io;
    const [metric] = positionals;
    if ([values.list === true, values.promql !== undefined, metric !== undefined].filter(Boolean).length !== 1) {
      throw new UsageError("specify exactly one of a metric's name, --list and --promql");
    }
    if (values.list === true) return showList(client, json, io);
    const shown = { io, values };
    if (values.promql !== undefined) {
      const times = values.step === undefined ? {} : timesOf(values.since, values.step);
      const answer = await client.metrics.promql({ query: values.promql, ...times }, { signal });
      if (json) await writeJson(io.stdout, answer);
      else await showPromql(answer.data, values.promql, shown);
      return exitCodes.ok;
    }
    const answer = await explainUnknown(
      client.metrics.query(
        {
          metric: metric!,
          time_window: values.since,
          ...(values.step === undefined ? {} : { step: values.step }),
          project_name: values.project,
          service_name: values.service,
          model_key: values.model,
          agent_name: values.agent,
          agent_class: values["agent-class"],
          session_id: values.session,
          user_id: values.user,
          key_id: values.key,
          status: values.status as "success" | "failure" | "timeout" | undefined,
          category: values.category as "hate" | undefined,
          percentile: values.percentile,
        },
        { signal },
      ),
      { client, metric: metric! },
    );
    if (json) await writeJson(io.stdout, answer);
    else {
      const { data } = await client.metrics.list({ signal });
      const unit = data.find(({ name }) => name === metric)?.unit ?? "";
      await showSeries(answer.samples, { name: metric!, unit }, shown);
    }
    return exitCodes.ok;
  },
});

/** Suggests the nearest name if the server does not know the metric. */
async function explainUnknown<Answer>(
  answer: Promise<Answer>,
  { client, metric }: { readonly client: AsyncSounding; readonly metric: string },
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.param !== "metric") throw error;
    const names = (await client.metrics.list()).data.map(({ name }) => name);
    if (names.includes(metric)) throw error;
    throw new UsageError(`metric is ${JSON.stringify(metric)}; ${suggestion(metric, names)}`);
  }
}

async function showList(client: AsyncSounding, json: boolean, io: CommandIo): Promise<number> {
  const list = await client.metrics.list({ signal: io.signal });
  if (json) await writeJson(io.stdout, list);
  else {
    const rows = list.data.map(({ description, name, unit }) => [name, unit, description]);
    await writeTable(io, ["metric", "unit", "what it measures"], rows);
  }
  return exitCodes.ok;
}

const unitSeconds: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };

/** The time from `since` until now, for Prometheus' API. */
function timesOf(since: string, step: string): { start: number; end: number; step: string } {
  const { count, unit } = (/^(?<count>\d+)(?<unit>[mhd])$/.exec(since)?.groups ?? {}) as Record<string, string>;
  if (count === undefined || unit === undefined) {
    throw new UsageError(`--since is ${JSON.stringify(since)}; it must be a duration such as 15m, 24h or 7d`);
  }
  const end = Date.now() / 1000;
  return { start: end - Number(count) * unitSeconds[unit]!, end, step };
}

async function showPromql(
  { result, resultType }: { readonly resultType: string; readonly result: readonly unknown[] },
  title: string,
  shown: Shown,
): Promise<void> {
  if (resultType === "scalar" || resultType === "string") {
    return writeLine(shown.io.stdout, printable(String(result[1])));
  }
  const series = result as readonly (Omit<Series, "values"> & Partial<Series> & { value?: [number, string] })[];
  const samples = series.map(({ metric, value, values }) => ({ metric, values: values ?? (value ? [value] : []) }));
  return showSeries(samples, { name: title, unit: "" }, shown);
}
