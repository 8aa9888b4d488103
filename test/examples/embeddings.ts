// The client: which of two sentences is closer to a question?
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();
const texts = ["How deep is the water?", "The sounding shows six fathoms.", "The cook has made soup."];
const { data } = await sounding.embeddings.create({ model: "texts", input: texts });
const [question, ...others] = data.map(({ embedding }) => embedding);
for (const [index, vector] of others.entries()) {
  const similarity = vector.reduce((sum, value, at) => sum + value * question![at]!, 0);
  console.log(similarity.toFixed(3), texts[index + 1]);
}
