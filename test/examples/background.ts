import OpenAI from "openai";

const client = new OpenAI({
  baseURL: `${process.env["SOUNDING_BASE_URL"]}/v1`,
  apiKey: process.env["SOUNDING_API_KEY"],
});
let response = await client.responses.create({ model: "sounding-trial", input: "Count to ten.", background: true });
console.log(response.status);
while (response.status === "queued" || response.status === "in_progress") {
  await new Promise((resolve) => setTimeout(resolve, 500));
  response = await client.responses.retrieve(response.id);
}
console.log(response.status, response.output_text);
