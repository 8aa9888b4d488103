// Anthropic's SDK for Node, unchanged except for the base URL and the API key.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: process.env["SOUNDING_BASE_URL"],
  apiKey: process.env["SOUNDING_API_KEY"],
});
const stream = client.messages.stream({
  model: "sounding-trial",
  max_tokens: 256,
  messages: [{ role: "user", content: "What is a fathom?" }],
});
for await (const event of stream)
  if (event.type === "content_block_delta" && event.delta.type === "text_delta") process.stdout.write(event.delta.text);
const { stop_reason, usage } = await stream.finalMessage();
console.log(`\n${stop_reason}: ${usage.input_tokens} + ${usage.output_tokens} tokens`);
