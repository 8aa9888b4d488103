// OpenAI's SDK for Node, unchanged except for the base URL and the API key.
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: `${process.env["SOUNDING_BASE_URL"]}/v1`,
  apiKey: process.env["SOUNDING_API_KEY"],
});
const first = await client.responses.create({ model: "sounding-trial", input: "What is a fathom?" });
console.log(first.output_text);
const second = client.responses.stream({
  model: "sounding-trial",
  input: "And in metres?",
  previous_response_id: first.id,
});
for await (const event of second) if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
const { usage } = await second.finalResponse();
console.log(`\n${usage?.input_tokens} + ${usage?.output_tokens} tokens`);
