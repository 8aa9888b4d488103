/** Writes vectors as JSON, in time slices: two thousand vectors have millions of numbers. */
import type { EmbeddingRequest } from "../api/embeddings.ts";
import { withCost, type CallCost } from "../pricing/call-costs.ts";
import { CooperativeYield, longStep } from "../scheduling/cooperative-yield.ts";

interface EmbeddingFacts {
  /** The ID of the model that made them. */
  readonly model: string;
  readonly tokens: number;
  readonly cost: CallCost | undefined;
  readonly format: EmbeddingRequest["encoding_format"];
}

export async function writeEmbeddings(
  vectors: readonly Float32Array[],
  { model, tokens, format, cost }: EmbeddingFacts,
): Promise<string> {
  const yielder = new CooperativeYield();
  const toText = format === "base64" ? toBase64 : toNumbers;
  let text = '{"object":"list","data":[';
  for (const [index, vector] of vectors.entries()) {
    text += `${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":${toText(vector)}}`;
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  const usage = withCost({ prompt_tokens: tokens, total_tokens: tokens }, cost);
  return `${text}],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

/** 32-bit floats, little-endian: the order of every machine that Node runs on. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return `"${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}"`;
}

function toNumbers(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}
