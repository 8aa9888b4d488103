/** Turns the client's body into the call for an engine. */
import { EmbeddingRequest } from "../api/embeddings.ts";
import { listTexts } from "../api/texts-or-tokens.ts";
import type { EmbeddingCall } from "../engines/embedding-model.ts";
import { estimateTokens } from "../estimate-tokens.ts";

export interface PreparedEmbeddings extends Pick<EmbeddingCall, "inputs" | "dimensions" | "others"> {
  /** For limits, until the engine reports usage. */
  readonly estimatedTokens: number;
}

/** What the call itself has. */
const known = new Set(["model", "input", "dimensions", "encoding_format", "user"]);

export function prepareEmbeddings(request: EmbeddingRequest): PreparedEmbeddings {
  const inputs = listTexts(request.input);
  const others = Object.entries(request).filter(([name]) => !known.has(name));
  return {
    inputs,
    dimensions: request.dimensions ?? undefined,
    others: Object.fromEntries(others),
    estimatedTokens: estimateInputs(inputs),
  };
}

function estimateInputs(inputs: EmbeddingCall["inputs"]): number {
  let tokens = 0;
  for (const input of inputs) tokens += typeof input === "string" ? estimateTokens(input.length) : input.length;
  return tokens;
}
