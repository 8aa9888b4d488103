// Streams an answer without a single `await`.
import { Sounding } from "@sounding/client/sync";

const sounding = new Sounding();
const [model] = sounding.models.list().data;

const stream = sounding.chat.completions.create({
  model: model!.id,
  messages: [{ role: "user", content: "What is a fathom?" }],
  stream: true,
});
for (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
}
process.stdout.write("\n");
