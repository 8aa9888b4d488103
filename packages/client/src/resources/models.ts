/** `GET /v1/models`, `GET /v1/models/{id}` and `GET /v1/prices`. https://platform.openai.com/docs/api-reference/models */
import type { Model, ModelList, PriceList } from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import type { CallOptions } from "../request.ts";
import { readJson } from "../response.ts";

export interface ModelListOptions extends CallOptions {
  /** Only models with this capability; models without other capabilities come first. */
  capability?: "chat" | "speech" | "transcription" | "embeddings" | undefined;
}

export interface PriceListOptions extends CallOptions {
  /** Only this model, or the model behind this alias. */
  model?: string | undefined;
}

export interface Models<M extends Mode> {
  /** Lists the models that the key may call. */
  list(options?: ModelListOptions): Out<M, ModelList>;
  /** Returns one model. Throws NotFoundError if no model has this ID. */
  retrieve(id: string, options?: CallOptions): Out<M, Model>;
  /** Lists which prices apply to the models that the key may call, and why. */
  prices(options?: PriceListOptions): Out<M, PriceList>;
}

export function createModels<M extends Mode>(transport: Transport<M>): Models<M> {
  const get = { method: "GET", accept: "application/json" } as const;
  return {
    list({ capability, ...options } = {}) {
      const path = capability === undefined ? "/v1/models" : `/v1/models?capability=${encodeURIComponent(capability)}`;
      return transport.send({ ...get, path, options }, (answer) => readJson(answer) as ModelList);
    },
    retrieve: (id, options) =>
      transport.send({ ...get, path: `/v1/models/${pathOf(id)}`, options }, (answer) => readJson(answer) as Model),
    prices({ model, ...options } = {}) {
      const path = model === undefined ? "/v1/prices" : `/v1/prices?model=${encodeURIComponent(model)}`;
      return transport.send({ ...get, path, options }, (answer) => readJson(answer) as PriceList);
    },
  };
}

/** IDs such as `vendor/model` keep their slash: the server takes the rest of the path as the ID. */
function pathOf(id: string): string {
  return id.split("/").map(encodeURIComponent).join("/");
}
