/** `POST /v1/embeddings`. https://platform.openai.com/docs/api-reference/embeddings/create */
import { fromBase64 } from "../base64.ts";
import type { EmbeddingList as EmbeddingAnswer, EmbeddingRequest } from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import type { CallOptions, CallParameters, OrUndefined } from "../request.ts";
import { readJson } from "../response.ts";

/** The request's parameters, each of which may also be undefined, and those that control the client. */
export interface EmbeddingParams
  extends
    CallParameters,
    OrUndefined<Omit<EmbeddingRequest, "encoding_format" | "input" | "model">>,
    Pick<EmbeddingRequest, "input" | "model"> {}

type Answered = EmbeddingAnswer["data"][number];

/** A vector of an input. */
export interface Embedding extends Omit<Answered, "embedding"> {
  embedding: number[];
}

/** Vectors, in the order of the inputs. */
export interface EmbeddingList extends Omit<EmbeddingAnswer, "data"> {
  data: Embedding[];
}

export interface Embeddings<M extends Mode> {
  /** Turns one or more texts into vectors. */
  create(params: EmbeddingParams, options?: CallOptions): Out<M, EmbeddingList>;
}

export function createEmbeddings<M extends Mode>(transport: Transport<M>): Embeddings<M> {
  const post = { method: "POST", path: "/v1/embeddings", accept: "application/json" } as const;
  return {
    create(params, options) {
      // A third of the bytes of numbers as text, and read at once.
      const parameters = { ...params, encoding_format: "base64" };
      return transport.send({ ...post, parameters, options }, (answer) => {
        const { data, ...rest } = readJson(answer) as EmbeddingAnswer;
        return { ...rest, data: data.map((item) => ({ ...item, embedding: toNumbers(item.embedding) })) };
      });
    },
  };
}

/** 32-bit floats, little-endian. */
function toNumbers(embedding: Answered["embedding"]): number[] {
  if (typeof embedding !== "string") return embedding;
  const { buffer, byteLength, byteOffset } = fromBase64(embedding);
  const view = new DataView(buffer, byteOffset, byteLength);
  const length = Math.floor(byteLength / Float32Array.BYTES_PER_ELEMENT);
  return Array.from({ length }, (_, index) => view.getFloat32(index * Float32Array.BYTES_PER_ELEMENT, true));
}
