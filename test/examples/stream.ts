// Prints an answer while it is generated.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();
const models = await sounding.models.list();

const stream = await sounding.chat.completions.create({
  model: models.data[0]!.id,
  messages: [{ role: "user", content: "What is a fathom?" }],
  stream: true,
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
}
process.stdout.write("\n");
