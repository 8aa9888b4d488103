/** Reads the vectors of an OpenAI-compatible engine, in base64 or as numbers, whichever it sends. */
import { isObject, wholeNumber } from "../../json-object.ts";
import type { Embeddings } from "../embedding-model.ts";
import { invalidEmbeddings as invalid, requireVectors } from "../upstream-http/embedding-vectors.ts";
import { embeddedError } from "../upstream-http/upstream-error.ts";

const bytesPerComponent = 4;

/** @throws AppError upstream_failed for anything but `count` vectors of one length, or the error in it */
export function readEmbeddings(answer: unknown, count: number): Embeddings {
  if (!isObject(answer)) throw invalid("it is not an object");
  const error = embeddedError(answer);
  if (error !== undefined) throw error;
  const { data, usage } = answer;
  if (!Array.isArray(data) || data.length !== count) throw invalid(`it does not have ${count} embeddings`);
  const vectors: Float32Array[] = [];
  for (const [place, entry] of data.entries()) {
    if (!isObject(entry)) throw invalid("an embedding is not an object");
    const index = wholeNumber(entry["index"]) ?? place;
    if (index >= count || vectors[index] !== undefined) throw invalid("the embeddings are not numbered from 0");
    vectors[index] = toVector(entry["embedding"]);
  }
  requireVectors(vectors, count);
  const tokens = isObject(usage)
    ? (wholeNumber(usage["prompt_tokens"]) ?? wholeNumber(usage["total_tokens"]))
    : undefined;
  return { vectors, tokens };
}

function toVector(embedding: unknown): Float32Array {
  return typeof embedding === "string" ? fromBase64(embedding) : fromNumbers(embedding);
}

function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % bytesPerComponent !== 0) throw invalid("a vector is not base64 of 32-bit floats");
  // A copy, because the bytes may not be aligned.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

function fromNumbers(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || !embedding.every((component) => typeof component === "number"))
    throw invalid("an embedding is not a list of numbers");
  return Float32Array.from(embedding);
}
