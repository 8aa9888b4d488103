/** The three measured queries, over HTTP, with the response read to its end. */
import type { MeasuredServer } from "./server.ts";

async function ask(server: MeasuredServer, path: string, body: object): Promise<{ text: string; latencyMs: number }> {
  const { status, text, latencyMs } = await server.post({
    path,
    contentType: "application/json",
    body: JSON.stringify(body),
  });
  if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`);
  return { text, latencyMs };
}

const newestTraces = { trace: "inference_traces", project_name: "bench", time_window: "24h", limit: 100 };

export interface Question {
  readonly name: string;
  readonly aim: string;
  /** Milliseconds. */
  readonly ask: () => Promise<number>;
}

/** Needs existing traces, to query them one after the other. */
export async function questionsOf(server: MeasuredServer): Promise<Question[]> {
  const { text } = await ask(server, "/observability/traces", { ...newestTraces, limit: 1000, detail: false });
  const ids = (JSON.parse(text) as { traces: { traceID: string }[] }).traces.map(({ traceID }) => traceID);
  let next = 0;
  return [
    {
      name: "newest 500 log entries, severity and project",
      aim: "40 ms",
      ask: async () => {
        const search = { severity: "error", project_name: "bench", time_window: "24h", limit: 500 };
        return (await ask(server, "/observability/logs", search)).latencyMs;
      },
    },
    {
      name: "one trace by id",
      aim: "30 ms",
      ask: async () => {
        const traceId = ids[next++ % ids.length]!;
        return (await ask(server, "/observability/traces", { trace: "all_traces", trace_id: traceId })).latencyMs;
      },
    },
    {
      name: "newest 100 traces with all spans",
      aim: "120 ms",
      ask: async () => (await ask(server, "/observability/traces", newestTraces)).latencyMs,
    },
  ];
}
