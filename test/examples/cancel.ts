// Reads the beginning of an answer. Leaving the loop cancels the request, on the server too.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();
const models = await sounding.models.list();

const stream = await sounding.chat.completions.create(
  { model: models.data[0]!.id, messages: [{ role: "user", content: "Count to a million." }], stream: true },
  { timeout: 30 },
);
let text = "";
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta.content ?? "";
  if (text.length >= 20) break;
}
console.log(`${text}…`);
