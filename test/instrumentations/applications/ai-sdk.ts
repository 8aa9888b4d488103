/** Vercel's AI SDK with its OpenTelemetry integration (@ai-sdk/otel), the current one or the legacy one. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { LegacyOpenTelemetry, OpenTelemetry } from "@ai-sdk/otel";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { generateText, isStepCount, jsonSchema, registerTelemetry, streamText, tool } from "ai";

const sdk = new NodeSDK();
sdk.start();
registerTelemetry(process.argv[2] === "legacy" ? new LegacyOpenTelemetry() : new OpenTelemetry());

const provider = createOpenAICompatible({
  name: "sounding",
  baseURL: process.env["OPENAI_BASE_URL"]!,
  apiKey: process.env["OPENAI_API_KEY"]!,
  includeUsage: true,
});
const model = provider.chatModel("assistant");
const add = tool({
  description: "Adds two numbers.",
  inputSchema: jsonSchema<{ a: number; b: number }>({
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  }),
  execute: ({ a, b }) => Promise.resolve(a + b),
});
const telemetry = { functionId: "calculator", includeRuntimeContext: { sessionId: true } };
const runtimeContext = { sessionId: "session-1" };

await generateText({ model, prompt: "1 + 2?", tools: { add }, stopWhen: isStepCount(3), telemetry, runtimeContext });
await streamText({ model, prompt: "What is a fathom?", telemetry, runtimeContext }).text;
await generateText({ model: provider.chatModel("nobody"), prompt: "Hello?", maxRetries: 0, telemetry }).catch(() => {});
await sdk.shutdown();
