/** Chat completions: requests, responses and streams. */
import assert from "node:assert/strict";
import { BadRequestError, type ChatCompletionParams } from "@sounding/client";
import type { InterfaceCase, InterfaceTools } from "./interface-case.ts";
import { dataOf, post } from "./raw-request.ts";

const question = { model: "assistant", messages: [{ role: "user" as const, content: "Hello?" }] };

/** Allowed values of every optional parameter. */
const parameters: Readonly<Record<string, readonly unknown[]>> = {
  audio: [{ voice: "alloy", format: "wav" }, null],
  frequency_penalty: [0.5, null],
  logit_bias: [{ "50256": -100 }],
  logprobs: [true, null],
  max_completion_tokens: [16, null],
  modality: [["text"], ["text", "audio"], null],
  n: [2, null],
  temperature: [0.7, null],
  tool_choice: ["none", { type: "function", function: { name: "look_up" } }],
  user: ["user-7"],
  web_search_options: [{ search_context_size: "low" }],
  response_format: [
    { type: "json_object" },
    { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } },
  ],
  seed: [7, null],
  service_tier: ["auto", "default", "flex", null],
  stop: ["END", ["a", "b", "c", "d"], null],
  store: [true, null],
  tools: [[{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }]],
  top_logprobs: [2, null],
  top_p: [0.9, null],
};

interface Chunk {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly { readonly delta: { readonly role?: string }; readonly finish_reason: string | null }[];
}

/** Members that make a value meaningful. */
const companions: Readonly<Record<string, object>> = {
  audio: { modality: ["text", "audio"] },
  modality: { audio: { voice: "alloy", format: "wav" } },
  top_logprobs: { logprobs: true },
  tool_choice: { tools: parameters["tools"]![0] },
};

/** What the vendor received for a call with these parameters. */
async function asked({ client }: InterfaceTools, more: object): Promise<Record<string, unknown>> {
  const params = { ...question, ...more } as ChatCompletionParams & { stream?: false };
  const { choices } = await client.chat.completions.create(params);
  return JSON.parse(choices[0]!.message.content!) as Record<string, unknown>;
}

const parameterCases = Object.entries(parameters).map(([name, values]): InterfaceCase => ({
  name: `the parameter ${name} reaches the model`,
  shows: [`chat-completion-requests/${name}`],
  async run(tools) {
    for (const value of values) {
      const seen = await asked(tools, { ...companions[name], [name]: value });
      assert.deepEqual(seen[name === "modality" ? "modalities" : name] ?? null, value);
    }
  },
}));

export const chatCases: readonly InterfaceCase[] = [
  {
    name: "a conversation and a model ID return one complete object",
    shows: [
      "chat-completion-responses/object",
      "chat-completion-responses/created",
      "chat-completion-responses/model",
      "chat-completion-responses/choices",
      "chat-completion-requests/messages",
      "chat-completion-requests/model",
    ],
    async run({ client }) {
      const answer = await client.chat.completions.create(question);
      assert.deepEqual([answer.object, answer.model], ["chat.completion", "assistant"]);
      assert.ok(Number.isInteger(answer.created) && answer.created > 1_700_000_000, String(answer.created));
      assert.deepEqual(JSON.parse(answer.choices[0]!.message.content!).messages, question.messages);
    },
  },
  {
    name: "every completion has a different ID",
    shows: ["chat-completion-responses/id"],
    async run({ client }) {
      // The engine of this process: its IDs are ours.
      const ids = new Set<string>();
      for (let count = 0; count < 3; count++) {
        const params = { ...question, model: "sounding-trial", max_completion_tokens: 2 };
        ids.add((await client.chat.completions.create(params)).id);
      }
      assert.equal(ids.size, 3);
    },
  },
  {
    name: "usage, service tier, fingerprint and the prompt's log probabilities are returned if the engine reports them",
    shows: [
      "chat-completion-responses/usage",
      "chat-completion-responses/service_tier",
      "chat-completion-responses/system_fingerprint",
      "chat-completion-responses/prompt_logprobs",
    ],
    async run({ client }) {
      const answer = await client.chat.completions.create(question);
      const { prompt_tokens, completion_tokens, total_tokens } = answer.usage!;
      assert.deepEqual([prompt_tokens, completion_tokens, total_tokens], [5, 2, 7]);
      assert.deepEqual([answer.service_tier, answer.system_fingerprint], ["default", "fp_7"]);
      assert.deepEqual(answer["prompt_logprobs"], [null, { "42": { logprob: -0.5, rank: 1, decoded_token: "Hi" } }]);
    },
  },
  {
    name: "messages and model are required",
    shows: ["chat-completion-requests/messages", "chat-completion-requests/model"],
    async run({ client }) {
      for (const name of ["messages", "model"]) {
        await assert.rejects(
          async () => client.chat.completions.create({ ...question, [name]: undefined }),
          (error) => error instanceof BadRequestError && error.param === name,
        );
      }
    },
  },
  ...parameterCases,
  {
    name: "unknown fields and those of extra_body reach the model, and the top level wins",
    shows: ["chat-completion-requests/extra_body", "chat-completion-requests/unknown-fields"],
    withoutClient: true,
    async run({ facts }) {
      const body = { ...question, top_k: 3, extra_body: { top_k: 9, min_p: 0.1 } };
      const answer = (await (await post(facts, "/v1/chat/completions", body)).json()) as {
        choices: { message: { content: string } }[];
      };
      const { top_k, min_p, extra_body } = JSON.parse(answer.choices[0]!.message.content) as Record<string, unknown>;
      assert.deepEqual([top_k, min_p, extra_body], [3, 0.1, undefined]);
    },
  },
  {
    name: "the chunks of a stream have the same ID, start with a role and end with a finish reason",
    shows: ["chat-completion-streams/constant-fields", "chat-completion-streams/first-and-last-delta"],
    withoutClient: true,
    async run({ facts }) {
      for (const model of ["assistant", "sounding-trial"]) {
        const body = { ...question, model, stream: true, max_completion_tokens: 8 };
        const events = await dataOf(await post(facts, "/v1/chat/completions", body));
        assert.equal(events.pop(), "[DONE]");
        const chunks = events.map((event) => JSON.parse(event) as Chunk);
        assert.equal(new Set(chunks.map(({ id, created, model: own }) => `${id} ${created} ${own}`)).size, 1);
        const choices = chunks.flatMap((chunk) => chunk.choices);
        assert.equal(choices[0]!.delta.role, "assistant");
        assert.ok(["stop", "length"].includes(String(choices.at(-1)!.finish_reason)));
        assert.ok(choices.slice(0, -1).every(({ finish_reason }) => finish_reason === null));
      }
    },
  },
  {
    name: "the same seed gives the same completion",
    shows: ["chat-completion-requests/seed"],
    async run({ client }) {
      const params = { ...question, model: "sounding-trial", seed: 11, temperature: 1, max_completion_tokens: 12 };
      const [first, second] = [
        await client.chat.completions.create(params),
        await client.chat.completions.create(params),
      ];
      assert.equal(first.choices[0]!.message.content, second.choices[0]!.message.content);
    },
  },
  {
    name: "n sets the number of choices",
    shows: ["chat-completion-requests/n"],
    async run({ client }) {
      const { choices } = await client.chat.completions.create({ ...question, n: 3 });
      assert.deepEqual(
        choices.map(({ index }) => index),
        [0, 1, 2],
      );
    },
  },
  {
    name: "an unknown service tier, five stop sequences and an unknown kind of tool are refused by name",
    shows: ["chat-completion-requests/service_tier", "chat-completion-requests/stop", "chat-completion-requests/tools"],
    async run({ client }) {
      for (const [param, value] of [
        ["service_tier", "gold"],
        ["stop", ["a", "b", "c", "d", "e"]],
        ["tools", [{ type: "web_search" }]],
      ] as const) {
        await assert.rejects(
          async () => client.chat.completions.create({ ...question, [param]: value }),
          (error) => error instanceof BadRequestError && error.param?.startsWith(param) === true,
        );
      }
    },
  },
  {
    name: "a stream is a sequence of chunk objects, sent as server-sent events",
    shows: ["chat-completion-requests/stream", "chat-completion-streams/chunks"],
    async run({ client, facts }) {
      const objects = new Set<string>();
      const ids = new Set<string>();
      let text = "";
      for await (const chunk of await client.chat.completions.create({ ...question, stream: true })) {
        objects.add(chunk.object);
        ids.add(chunk.id);
        text += chunk.choices[0]?.delta.content ?? "";
      }
      assert.deepEqual([text, [...objects], ids.size], ["One two.", ["chat.completion.chunk"], 1]);
      const response = await fetch(`${facts.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${facts.key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...question, stream: true }),
      });
      assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
      const frames = (await response.text()).split("\n\n").slice(0, -1);
      assert.ok(frames.every((frame) => frame.startsWith("data: ")));
      assert.equal(frames.at(-1), "data: [DONE]");
    },
  },
  {
    name: "stream_options.include_usage adds a chunk with the usage",
    shows: ["chat-completion-requests/stream_options", "chat-completion-streams/usage-chunk"],
    async run({ client }) {
      const params = { ...question, stream: true, stream_options: { include_usage: true } } as const;
      const totals: (number | undefined)[] = [];
      let choices: readonly unknown[] = [];
      for await (const chunk of await client.chat.completions.create(params)) {
        totals.push(chunk.usage?.total_tokens);
        ({ choices } = chunk);
      }
      assert.deepEqual(choices, []);
      assert.deepEqual([totals.at(-1), totals.slice(0, -1).some((total) => total !== undefined)], [7, false]);
    },
  },
];
