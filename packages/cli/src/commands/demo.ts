/** `sounding demo`: sends one hour of telemetry of a sample application. */
import { readInteger } from "../admin-options.ts";
import { UsageError } from "../cli-error.ts";
import { command } from "../command.ts";
import { requireConnection, serverOptions } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeJson, writeLine } from "../output.ts";

/** Maximum number of records per request, as in SDKs. */
const batchSize = 500;

export const demoCommand = command({
  name: "demo",
  summary: "Send one hour of sample telemetry to explore",
  description: `Sends sample traces, logs and metrics of the last hour to the server's OTLP endpoint. They come from a sample support desk:
an agent answers customers with several models, searches a knowledge base and calls tools, and some of its requests fail.
The key needs the permission telemetry_write.`,
  options: {
    ...serverOptions,
    project: { type: "string", value: "NAME", default: "demo", description: "The project to send it to." },
    seed: {
      type: "string",
      value: "INTEGER",
      description: "Seed of the sample data; the same seed gives the same data, except for the time. Default: random.",
    },
  },
  examples: [["sounding demo && sounding traces --project demo", "Send sample data and look at it."]],
  async run({ values, json, io }) {
    const [{ createRandom }, { recordHour }, otlp, { sendOtlp }] = await Promise.all([
      import("../demo/random.ts"),
      import("../demo/support-desk.ts"),
      import("../demo/otlp.ts"),
      import("../demo/send.ts"),
    ]);
    if (values.project === "") throw new UsageError("--project is empty; it must be the name of a project");
    const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : readInteger("seed", values.seed);
    const target = { ...(await requireConnection(values, io)), signal: io.signal };
    const hour = recordHour(createRandom(seed), Date.now());
    const requests = [
      ...batches(hour.spans).map((each) => ({ path: "/v1/traces", message: otlp.toTraces(each, values.project) })),
      ...batches(hour.logs).map((each) => ({ path: "/v1/logs", message: otlp.toLogs(each, values.project) })),
      ...batches(hour.counts).map((each) => ({ path: "/v1/metrics", message: otlp.toMetrics(each, values.project) })),
    ];
    for (const [index, { path, message }] of requests.entries()) {
      await sendOtlp(target, path, message);
      if (io.progress) await write(io.stderr, `\r${index + 1} of ${requests.length} requests sent`);
    }
    if (io.progress) await write(io.stderr, "\n");
    const sent = { spans: hour.spans.length, logs: hour.logs.length, metric_points: hour.counts.length };
    if (json) {
      await writeJson(io.stdout, { project: values.project, seed, ...sent });
      return exitCodes.ok;
    }
    const numbers = `${sent.spans} spans, ${sent.logs} log entries and ${sent.metric_points} metric points`;
    await writeLine(
      io.stdout,
      `Sent ${numbers} from the last hour to the project ${JSON.stringify(values.project)}. To explore them:`,
    );
    for (const line of ["traces --preset error_traces", "logs --severity error"]) {
      await writeLine(io.stdout, `  sounding ${line} --project ${values.project}`);
    }
    return exitCodes.ok;
  },
});

function batches<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / batchSize);
  return Array.from({ length: count }, (_, index) => items.slice(index * batchSize, (index + 1) * batchSize));
}
