// Asks one question and prints the answer.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();
const models = await sounding.models.list();

const completion = await sounding.chat.completions.create({
  model: models.data[0]!.id,
  messages: [{ role: "user", content: "What is a fathom?" }],
});
console.log(completion.choices[0]?.message.content);
console.log(`${completion.usage?.total_tokens} tokens`);
