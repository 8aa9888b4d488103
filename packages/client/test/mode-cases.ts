/** Cases that both clients must pass against a scripted server. */
import { responseOf } from "@sounding/client";
import { errorOf, kindOf, type CaseTools, type ModeCases } from "./mode-case.ts";
import { speechModeCases } from "./speech-mode-cases.ts";
import { transcriptionModeCases } from "./transcription-mode-cases.ts";

const question = { model: "m", messages: [{ role: "user" as const, content: "Hello?" }] };

async function contents(tools: CaseTools, options: object = {}, client = tools.client): Promise<string[]> {
  const seen: string[] = [];
  const stream = await client.chat.completions.create({ ...question, stream: true }, options);
  for await (const { choices } of stream) {
    seen.push(choices[0]?.delta.content ?? "");
    tools.reached(seen.at(-1)!);
  }
  return seen;
}

export const modeCases = {
  "gives a whole answer and what came with it": async ({ client }) => {
    const answer = await client.chat.completions.create({ ...question, extra_body: { top_k: 3 } });
    return [answer.choices[0]?.message.content, responseOf(answer)?.requestId, responseOf(answer)?.status];
  },
  "lists models": async ({ client }) => (await client.models.list()).data.map(({ id }) => id),
  "queries logs": async ({ client }) => {
    const result = await client.logs.query({ severity: "error", limit: 2, project_name: undefined });
    const { result_type, samples } = result;
    return [
      result["status"],
      result["data"].resultType,
      result_type,
      samples,
      JSON.stringify(result).includes("samples"),
    ];
  },
  "reads all pages of logs": async ({ client }) => {
    const sizes: number[] = [];
    for await (const { samples } of client.logs.pages({ severity: "error" })) sizes.push(samples.length);
    return sizes;
  },
  "requests no further pages of logs than are read": async ({ client }) => {
    for await (const page of client.logs.pages()) return page.next_cursor;
    return "no pages";
  },
  "queries logs without parameters": async ({ client }) => (await client.logs.query()).samples.length,
  "queries metrics": async ({ client }) => {
    const result = await client.metrics.query({ metric: "token_consumption", model_key: undefined });
    return [result["status"], result.query, result.result_type, result.samples, "samples" in { ...result }];
  },
  "queries metrics over time": async ({ client }) => {
    const { result_type, samples } = await client.metrics.query({ metric: "session_total", step: null });
    return [result_type, samples.map(({ value, values }) => [value ?? "none", values])];
  },
  "queries PromQL": async ({ client }) => (await client.metrics.promql({ query: "up", time: 5 })).data.resultType,
  "queries traces": async ({ client }) => {
    const result = await client.traces.query({ trace: "all_traces", trace_id: "0af7651916cd43dd8448eb211c80319c" });
    const [batch] = result["batches"];
    return [
      result.status,
      result["traces"].length,
      batch?.resource,
      batch?.scope_spans.map(({ scope, spans }) => [scope, spans.length]),
      result.spans.map((span) => [span["name"], span["status"]]),
      responseOf(result)?.status,
    ];
  },
  "queries traces without their spans": async ({ client }) => {
    const result = await client.traces.query({ trace: "all_traces", detail: false });
    return [result.traces[0]?.traceID, result.batches, result.spans];
  },
  "reads all pages of traces": async ({ client }) => {
    const pages: unknown[] = [];
    for await (const { spans, next_cursor } of client.traces.pages({ trace: "all_traces" })) {
      pages.push([spans.length, next_cursor]);
    }
    return pages;
  },
  "counts logs over time": async ({ client }) => (await client.logs.histogram({ step: "5m" })).step_seconds,
  "counts traces over time": async ({ client }) => (await client.traces.histogram({ step: "5m" })).step_seconds,
  "lists conversations": async ({ client }) => (await client.traces.conversations()).data.length,
  "shows each chunk before the next is sent": (tools) => contents(tools),
  "tells status and request ID of a stream": async ({ client }) => {
    const stream = await client.chat.completions.create({ ...question, stream: true });
    await stream.close();
    return [stream.head.status, stream.head.requestId];
  },
  "reads two streams in turns": async ({ client }) => {
    const seen: string[] = [];
    for await (const outer of await client.chat.completions.create({ ...question, stream: true })) {
      for await (const inner of await client.chat.completions.create({ ...question, stream: true })) {
        seen.push(`${outer.choices[0]?.delta.content}${inner.choices[0]?.delta.content}`);
      }
    }
    return seen;
  },
  "throws an error status with all that the server said": ({ client }) => errorOf(() => client.models.list()),
  "throws an error status before a stream": (tools) => errorOf(() => contents(tools)),
  "throws an error inside a stream after its chunks": (tools) => errorOf(() => contents(tools)),
  "throws when a stream ends too early": (tools) => errorOf(() => contents(tools)),
  "throws when a stream is cut": (tools) => kindOf(() => contents(tools)),
  "throws when an answer makes no sense": ({ client }) => errorOf(() => client.models.list()),
  "throws when a whole answer comes for a stream": (tools) => errorOf(() => contents(tools)),
  "repeats what may be repeated, with a fresh key each time": async ({ make }) => {
    const keys = ["sk-1", "sk-2", "sk-3"];
    return (await make({ apiKey: () => keys.shift(), maxRetries: 2 }).models.list()).object;
  },
  "throws when there is no fresh key": ({ make }) =>
    errorOf(() =>
      make({
        apiKey: () => {
          throw new Error("vault closed");
        },
      }).models.list(),
    ),
  "cancels a stream by leaving the loop": async ({ client }) => {
    for await (const { choices } of await client.chat.completions.create({ ...question, stream: true })) {
      return choices[0]?.delta.content;
    }
    return undefined;
  },
  "cancels a stream by a signal": (tools) =>
    errorOf(async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const stream = await tools.client.chat.completions.create({ ...question, stream: true }, { signal });
      for await (const chunk of stream) controller.abort(new Error(`after ${chunk.choices[0]?.delta.content}`));
    }),
  "sends nothing for a signal that is aborted": ({ client }) =>
    errorOf(() => client.models.list({ signal: AbortSignal.abort(new Error("before")) })),
  "ends a whole answer at its time limit": ({ client }) => errorOf(() => client.models.list({ timeout: 0.2 })),
  "ends a stream at its time limit": (tools) => errorOf(() => contents(tools, { timeout: 0.3 })),
  "iterates a stream once": async ({ client }) => {
    const stream = await client.chat.completions.create({ ...question, stream: true });
    for await (const chunk of stream) if (chunk.choices.length === 0) return "an empty chunk";
    return errorOf(async () => {
      for await (const chunk of stream) return chunk;
      return undefined;
    });
  },
  "refuses an option that is wrong": ({ make }) => errorOf(() => make({ apiKey: "sk-a", api_key: "sk-b" })),
  ...speechModeCases,
  ...transcriptionModeCases,
} satisfies ModeCases;

export type ModeCase = keyof typeof modeCases;
