/** `sounding demo`: sends one hour of telemetry of a sample application. */
import { readInteger } from "../admin-options.ts";
import { UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { requireConnection, serverOptions } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeJson, writeLine } from "../output.ts";
import { sendRequest } from "../remote-request.ts";
import { formatCount } from "../terminal/numbers.ts";

/** Maximum number of records per request, as in SDKs. */
const batchSize = 500;

export const demoCommand = command({
  name: "demo",
  summary: "Send one hour of sample telemetry to explore",
  description: `Sends sample traces, logs and metrics of the last hour to the server's OTLP endpoint. They come from a sample support desk:
an agent answers customers by text and by telephone, searches a knowledge base and calls tools. Prompts and answers are recorded; the
tool check_stock often fails, one model is slow and one is costly.
Each run adds another hour of data with its own trace IDs. --clear deletes the sample data of the project, from all runs, and nothing
else. The key needs the permission telemetry_write.`,
  options: {
    ...serverOptions,
    project: { type: "string", value: "NAME", default: "demo", description: "The project of the sample data." },
    seed: {
      type: "string",
      value: "INTEGER",
      description:
        "Seed of the sample data; the same seed gives the same data, except for times and IDs. Default: random.",
    },
    clear: { type: "boolean", description: "Delete the project's sample data instead of sending more." },
  },
  examples: [
    ["sounding demo && sounding traces --project demo", "Send sample data and look at it."],
    ["sounding demo --clear", "Delete the sample data."],
  ],
  async run({ values, json, io }) {
    if (values.project === "") throw new UsageError("--project is empty; it must be the name of a project");
    if (values.clear === true) {
      if (values.seed !== undefined) throw new UsageError("--seed and --clear cannot be combined");
      return await clear(await requireConnection(values, io), { project: values.project, json, io });
    }
    const [{ createRandom }, { recordHour }, otlp, { sendOtlp }] = await Promise.all([
      import("../demo/random.ts"),
      import("../demo/support-desk.ts"),
      import("../demo/otlp.ts"),
      import("../demo/send.ts"),
    ]);
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
    const numbers = numbersOf({ ...sent, points: sent.metric_points });
    await writeLine(
      io.stdout,
      `Sent ${numbers} from the last hour to the project ${JSON.stringify(values.project)}. To explore them:`,
    );
    for (const line of ["traces --status error", "logs --severity error", "metrics token_consumption --step 5m"]) {
      await writeLine(io.stdout, `  sounding ${line} --project ${values.project}`);
    }
    return exitCodes.ok;
  },
});

/** Deleting can wait for the store to finish other work. */
const clearTimeoutMs = 180_000;

async function clear(
  { url, key }: { readonly url: string; readonly key: string },
  { project, json, io }: { readonly project: string; readonly json: boolean; readonly io: CommandIo },
): Promise<number> {
  const server = {
    url,
    key,
    signal: io.signal,
    timeoutMs: clearTimeoutMs,
    ifUnreachable: "Is the server running? Start one with `sounding serve`.",
    ifDenied: "The key needs the permission telemetry_write.",
  };
  const path = `/observability/samples?${new URLSearchParams({ project_name: project }).toString()}`;
  const receipt = (await sendRequest(server, "DELETE", path)) as { spans: number; logs: number; points: number };
  if (json) await writeJson(io.stdout, receipt);
  else {
    await writeLine(
      io.stdout,
      `Deleted ${numbersOf(receipt)} of sample data from the project ${JSON.stringify(project)}.`,
    );
  }
  return exitCodes.ok;
}

function numbersOf({ spans, logs, points }: { spans: number; logs: number; points: number }): string {
  return `${formatCount(spans)} spans, ${formatCount(logs)} log entries and ${formatCount(points)} metric points`;
}

function batches<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / batchSize);
  return Array.from({ length: count }, (_, index) => items.slice(index * batchSize, (index + 1) * batchSize));
}
