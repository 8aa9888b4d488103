/** Implements `EmbeddingModel` for a vendor's model. */
import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { isObject, wholeNumber } from "../../json-object.ts";
import type { EmbeddingCall, EmbeddingModel, Embeddings } from "../embedding-model.ts";
import { scaleToLengthOne } from "../unit-vector.ts";
import { invalidEmbeddings, requireVectors } from "../upstream-http/embedding-vectors.ts";
import { takeNumberLists } from "./number-lists.ts";
import { unsupported } from "./parameter-support.ts";
import type { VendorCall } from "./vendor-call.ts";
import { beginCall, liveOptions, toCallError, type VendorConnection } from "./vendor-connection.ts";
import { createVendorFetch } from "./vendor-fetch.ts";
import type { VendorEmbeddings, VendorFetch } from "./vendor.ts";

/** The model of this name; undefined if the vendor has none that embed. */
export function createVendorEmbeddings(model: string, connection: VendorConnection): EmbeddingModel | undefined {
  const { embeddings } = connection.vendor;
  if (embeddings === undefined) return undefined;
  return {
    mostInputs: embeddings.mostInputs(model),
    embed: (call) => embed(call, { model, connection, embeddings }),
  };
}

interface Target {
  readonly model: string;
  readonly connection: VendorConnection;
  readonly embeddings: VendorEmbeddings;
}

type Answer = Awaited<ReturnType<EmbeddingModelV4["doEmbed"]>>;

async function embed(call: EmbeddingCall, { model, connection, embeddings }: Target): Promise<Embeddings> {
  const { label } = connection.vendor;
  const values = requireTexts(call, label);
  const others = Object.fromEntries(Object.entries(call.others).filter(([, value]) => value !== null));
  const providerOptions = embeddings.providerOptions(model, { dimensions: call.dimensions, others });
  const live = beginCall(call, connection);
  try {
    const { fetch, lists } = takingFetch(live, connection);
    const create = await connection.loadFactory();
    const answer = await create(fetch)
      .embeddingModel(model)
      .doEmbed({ values, providerOptions, ...liveOptions(live) });
    const vectors = toVectors(answer, lists);
    requireVectors(vectors, values.length);
    // Some vendors cut off components, and leave the rest as it is.
    if (call.dimensions !== undefined && others["normalize"] !== false) vectors.forEach(scaleToLengthOne);
    return { vectors, tokens: tokensOf(answer) };
  } catch (error) {
    throw toCallError(error, live, connection);
  } finally {
    live.close();
  }
}

function requireTexts({ inputs }: EmbeddingCall, label: string): string[] {
  return inputs.map((input) => {
    if (typeof input === "string") return input;
    throw unsupported(label, "input", "it has tokens. Send text.");
  });
}

/** A `fetch` whose responses have indices in place of vectors. */
function takingFetch(live: VendorCall, { dispatcher, vendor }: VendorConnection) {
  const lists: Float32Array[] = [];
  const send = createVendorFetch({ dispatcher, call: live, label: vendor.label });
  const fetch: VendorFetch = async (input, init) => {
    const response = await send(input, init);
    if (!response.ok) return response;
    const { headers, status } = response;
    const taken = await takeNumberLists(await response.text());
    lists.push(...taken.lists);
    return new Response(taken.text, { headers, status });
  };
  return { fetch, lists };
}

function toVectors({ embeddings }: Answer, lists: readonly Float32Array[]): Float32Array[] {
  return embeddings.map(([index, ...rest]) => {
    const vector = index === undefined || rest.length > 0 ? undefined : lists[index];
    if (vector === undefined) throw invalidEmbeddings("its vectors are empty");
    return vector;
  });
}

/** Undefined if the vendor reports none. */
function tokensOf({ usage, response }: Answer): number | undefined {
  const metadata = isObject(response?.body) ? response.body["usageMetadata"] : undefined;
  // The adapter does not read Google's.
  return wholeNumber(usage?.tokens) ?? (isObject(metadata) ? wholeNumber(metadata["promptTokenCount"]) : undefined);
}
