/** `sounding embed`: prints the vectors of texts, or how similar two texts are. */
import { CliError, UsageError } from "../cli-error.ts";
import { command } from "../command.ts";
import { connectionOptions, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";

export const embedCommand = command({
  name: "embed",
  summary: "Turn texts into vectors, or compare two texts",
  description: `Prints the vector of each text on a line, as JSON. With --compare, prints the cosine similarity of two texts: 1 for the same
meaning, about 0 for texts that have nothing in common.

With --json: an object with model, usage and the vectors, or with --compare the similarity.`,
  arguments: [{ name: "text", description: "A text to embed.", variadic: true }],
  options: {
    model: { type: "string", short: "m", value: "ID", description: "The model. Default: the first one that embeds." },
    dimensions: {
      type: "string",
      value: "N",
      description: "Length of the vectors, for models that can shorten them.",
    },
    compare: { type: "boolean", short: "c", description: "Compare two texts." },
    ...connectionOptions,
  },
  examples: [
    ["sounding embed 'What is a fathom?'", "A vector."],
    ["sounding embed --compare 'six feet' 'one fathom'", "How similar two texts are."],
  ],
  async run({ values, positionals: texts, json, io }) {
    if (texts.length === 0) throw new UsageError("text is missing; give the texts to embed");
    if (values.compare === true && texts.length !== 2)
      throw new UsageError(`--compare needs two texts, not ${texts.length}`);
    const dimensions = values.dimensions === undefined ? undefined : Number(values.dimensions);
    if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions > 0))
      throw new UsageError(`--dimensions is ${JSON.stringify(values.dimensions)}; it must be a whole number above 0`);
    const client = await openClient(values, io);
    const model = values.model ?? (await firstModel(client, io.signal));
    const answer = await client.embeddings.create({ model, input: [...texts], dimensions }, { signal: io.signal });
    const vectors = answer.data.map(({ embedding }) => embedding);
    const { usage } = answer;
    if (values.compare === true) {
      const similarity = cosine(vectors[0]!, vectors[1]!);
      if (json) await writeJson(io.stdout, { model: answer.model, similarity, usage });
      else await writeLine(io.stdout, similarity.toFixed(4));
    } else if (json) await writeJson(io.stdout, { model: answer.model, usage, embeddings: vectors });
    else for (const vector of vectors) await writeLine(io.stdout, JSON.stringify(vector));
    return exitCodes.ok;
  },
});

type Client = Awaited<ReturnType<typeof openClient>>;

async function firstModel(client: Client, signal: AbortSignal): Promise<string> {
  const { data } = await client.models.list({ capability: "embeddings", signal });
  const [first] = data;
  if (first === undefined)
    throw new CliError("The server has no model that embeds texts. Configure an engine that has one, or use --model.");
  return first.id;
}

/** The cosine of the angle between two vectors; 0 if one of them is zero. */
function cosine(a: readonly number[], b: readonly number[]): number {
  let product = 0;
  let squaresOfA = 0;
  let squaresOfB = 0;
  for (const [index, x] of a.entries()) {
    const y = b[index] ?? 0;
    product += x * y;
    squaresOfA += x * x;
    squaresOfB += y * y;
  }
  const lengths = Math.sqrt(squaresOfA) * Math.sqrt(squaresOfB);
  return lengths === 0 ? 0 : product / lengths;
}
