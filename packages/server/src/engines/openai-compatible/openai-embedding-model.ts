/** Calls a model of an OpenAI-compatible API that embeds texts. https://platform.openai.com/docs/api-reference/embeddings */
import { inputLimit } from "../../input-limits.ts";
import type { EmbeddingCall, EmbeddingModel, Embeddings } from "../embedding-model.ts";
import type { ConnectionPool } from "../upstream-http/connection-pool.ts";
import { requestJson } from "../upstream-http/request-json.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import type { Endpoint } from "./endpoint.ts";
import { readEmbeddings } from "./read-embeddings.ts";
import { refuseGiven } from "./request-body.ts";

export interface OpenAiEmbeddingModelOptions {
  /** The name under which routing knows the model. */
  readonly model: string;
  readonly endpoint: Endpoint;
  readonly pool: ConnectionPool;
  readonly limits: TimeLimits;
  readonly unsupportedParameters: readonly string[];
  readonly maxAnswerBytes: number;
}

/** Small enough to be read without holding the event loop. */
const mostInputs = inputLimit({
  area: "Embeddings",
  bounds: "Inputs in one request to an OpenAI-compatible engine",
  value: 64,
  error: { instead: "several requests are sent" },
});

export function createOpenAiEmbeddingModel(options: OpenAiEmbeddingModelOptions): EmbeddingModel {
  const { endpoint, pool, model, limits } = options;
  const path = endpoint.embeddingPath(model);
  const headers = ["content-type", "application/json", ...endpoint.headers, "accept", "application/json"];
  return {
    mostInputs,
    async embed(call: EmbeddingCall): Promise<Embeddings> {
      const { dimensions, inputs, others, requestId, signal } = call;
      refuseGiven({ ...others, dimensions }, options.unsupportedParameters);
      // Numbers in base64 are read a hundred times faster than numbers as text.
      const body = {
        ...others,
        model: endpoint.wireModel(model),
        input: inputs,
        dimensions,
        encoding_format: "base64",
      };
      const bytes = Buffer.from(JSON.stringify(body));
      const request = {
        method: "POST",
        path,
        headers: requestId === undefined ? headers : [...headers, "x-request-id", requestId],
        body: { pieces: [bytes], byteLength: bytes.length },
        signal,
        limits,
        isStream: false,
      } as const;
      return requestJson(pool, request, options.maxAnswerBytes, (answer) => readEmbeddings(answer, inputs.length));
    },
  };
}
