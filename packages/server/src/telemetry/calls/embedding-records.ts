/** Turns calls for embeddings into spans and, if they failed, a log record. The texts are never recorded. */
import type { FinishedEmbeddings } from "../../finished-call.ts";
import { genAi } from "./attribute-names.ts";
import { toCallRecords, type CallRecords, type ProviderOf } from "./call-records.ts";

/** @param keepContent whether the project records content, which errors may quote */
export function toEmbeddingRecords(
  call: FinishedEmbeddings,
  keepContent: boolean,
  providerOf: ProviderOf,
): CallRecords {
  const attributes = {
    [genAi.inputTokens]: call.tokens,
    [genAi.embeddingDimensions]: call.dimensions,
  };
  return toCallRecords(call, { subject: `Embedding with ${call.model}`, attributes, keepContent }, providerOf);
}
