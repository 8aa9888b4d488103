// OpenAI's SDK for Node, unchanged except for the base URL and the API key.
import OpenAI from "openai";

const openai = new OpenAI({
  baseURL: `${process.env["SOUNDING_BASE_URL"]}/v1`,
  apiKey: process.env["SOUNDING_API_KEY"],
});

const models = await openai.models.list();
const stream = await openai.chat.completions.create({
  model: models.data[0]!.id,
  messages: [{ role: "user", content: "What is a fathom?" }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
