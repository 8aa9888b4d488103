/** The Responses API with OpenAI's SDK, the AI SDK and OpenAI's Agents SDK, all with their defaults, over both kinds of upstreams. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import OpenAI, { BadRequestError, NotFoundError } from "openai";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { beforeTests } from "../support/hooks.ts";
import { agentPackage, needs } from "../support/needs.ts";
import { startResponsesServer, type ResponsesServer } from "../support/responses-server.ts";
import { chatTask, fileAnswer, jsonAnswer, responsesTask } from "../support/responses-task.ts";

const parameters = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
} as const;
const readTool = { type: "function", name: "read", description: "Reads.", parameters, strict: true } as const;
const question = "What does the file x say?";

for (const model of ["assistant", "native"]) {
  describe(`clients of the Responses API with the model ${model}`, () => {
    let setting: ResponsesServer;
    let client: OpenAI;
    beforeTests(async (stack) => {
      setting = stack.use(await startResponsesServer());
      setting.chat.script = chatTask;
      setting.responses.script = responsesTask();
      client = new OpenAI({ baseURL: `${setting.server.url}/v1`, apiKey: setting.server.key, maxRetries: 0 });
    });

    test("OpenAI's SDK creates, streams, continues, lists and deletes", async () => {
      const first = await client.responses.create({ model, input: question, tools: [readTool] });
      const call = first.output.find((item) => item.type === "function_call");
      assert.deepEqual([call!.name, call!.arguments], ["read", '{"path":"x"}']);
      const output = { type: "function_call_output", call_id: call!.call_id, output: "42" } as const;
      const second = await client.responses.create({ model, input: [output], previous_response_id: first.id });
      assert.deepEqual([second.output_text, second.usage?.input_tokens], [fileAnswer, 100]);
      const items = await client.responses.inputItems.list(second.id);
      assert.deepEqual(
        items.data.map(({ type }) => type),
        ["function_call_output"],
      );
      assert.equal((await client.responses.retrieve(second.id)).output_text, fileAnswer);
      await client.responses.delete(second.id);
      await assert.rejects(client.responses.retrieve(second.id), NotFoundError);
    });

    test("OpenAI's SDK assembles a stream", async () => {
      const stream = client.responses.stream({ model, input: question });
      let text = "";
      for await (const event of stream) if (event.type === "response.output_text.delta") text += event.delta;
      const response = await stream.finalResponse();
      assert.deepEqual([text, response.output_text, response.status], [fileAnswer, fileAnswer, "completed"]);
    });

    test("OpenAI's SDK parses structured outputs, at once and streaming", async () => {
      const schema = { type: "object", properties: { path: { type: "string" }, answer: { type: "integer" } } };
      const format = { type: "json_schema", name: "file", strict: true, schema } as const;
      const parsed = await client.responses.parse({ model, input: question, text: { format } });
      assert.deepEqual(parsed.output_parsed, jsonAnswer);
      const sent = (model === "native" ? setting.responses : setting.chat).exchanges.at(-1)!.json as JsonObject;
      const { type, ...rest } = format;
      if (model === "native") assert.deepEqual(sent["text"], { format });
      else assert.deepEqual(sent["response_format"], { type, json_schema: rest });
      const stream = client.responses.stream({ model, input: question, text: { format } });
      assert.deepEqual((await stream.finalResponse()).output_parsed, jsonAnswer);
    });

    test("OpenAI's SDK raises its errors", async () => {
      const wrong = client.responses.create({ model: "nothing", input: question });
      await assert.rejects(wrong, NotFoundError);
      await assert.rejects(
        client.responses.create({ model, input: question, conversation: "conv_1" }),
        BadRequestError,
      );
    });

    test("the AI SDK loops over tools, at once and streaming", async () => {
      const provider = createOpenAI({ baseURL: `${setting.server.url}/v1`, apiKey: setting.server.key });
      const read = tool({
        description: "Reads.",
        inputSchema: jsonSchema<{ path: string }>(parameters),
        execute: () => "42",
      });
      const task = {
        model: provider(model),
        prompt: question,
        tools: { read },
        stopWhen: isStepCount(3),
        maxRetries: 0,
      };
      const { text, steps, totalUsage } = await generateText(task);
      assert.deepEqual([text, steps.length, totalUsage.inputTokens], [fileAnswer, 2, 200]);
      const streamed = streamText(task);
      let pieces = "";
      for await (const piece of streamed.textStream) pieces += piece;
      assert.deepEqual([pieces, (await streamed.steps).length], [fileAnswer, 2]);
    });

    test("OpenAI's Agents SDK runs an agent, at once and streaming", { skip: needs("openai-agents") }, async () => {
      const agents = (await import(`${agentPackage("@openai/agents")}/dist/index.mjs`)) as Agents;
      agents.setTracingDisabled(true);
      const provider = new agents.OpenAIProvider({ openAIClient: client });
      const runner = new agents.Runner({ modelProvider: provider });
      const read = agents.tool({ name: "read", description: "Reads.", parameters, strict: true, execute: () => "42" });
      const agent = new agents.Agent({ name: "Reader", instructions: "Use the tool.", model, tools: [read] });
      assert.equal((await runner.run(agent, question)).finalOutput, fileAnswer);
      const streamed = await runner.run(agent, question, { stream: true });
      let text = "";
      for await (const piece of streamed.toTextStream()) text += String(piece);
      assert.equal(text, fileAnswer);
    });
  });
}

/** What of the Agents SDK is used; it is not a dependency, so that its types are not there. */
interface Agents {
  readonly Agent: new (options: object) => object;
  readonly OpenAIProvider: new (options: { readonly openAIClient: OpenAI }) => object;
  readonly Runner: new (options: { readonly modelProvider: object }) => Runner;
  tool(options: object): object;
  setTracingDisabled(disabled: boolean): void;
}

interface Runner {
  run(
    agent: object,
    input: string,
    options: { readonly stream: true },
  ): Promise<{ toTextStream(): AsyncIterable<unknown> }>;
  run(agent: object, input: string): Promise<{ readonly finalOutput: unknown }>;
}
