/** `GET /v1/audio/voices`. */
import type { VoiceList } from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import type { CallOptions } from "../request.ts";
import { readJson } from "../response.ts";

export interface VoiceFilter {
  /** Only voices of this model. */
  readonly model?: string | undefined;
  /** Only voices that speak this language, such as `fr` or `fr-FR`. */
  readonly language?: string | undefined;
}

export interface Voices<M extends Mode> {
  /** Lists the voices of the models that the key may call, as far as their engines report them. */
  list(filter?: VoiceFilter, options?: CallOptions): Out<M, VoiceList>;
}

export function createVoices<M extends Mode>(transport: Transport<M>): Voices<M> {
  return {
    list({ model, language } = {}, options) {
      const query = new URLSearchParams();
      if (model !== undefined) query.set("model", model);
      if (language !== undefined) query.set("language", language);
      const path = query.size === 0 ? "/v1/audio/voices" : `/v1/audio/voices?${query.toString()}`;
      const request = { method: "GET", path, accept: "application/json", options } as const;
      return transport.send(request, (answer) => readJson(answer) as VoiceList);
    },
  };
}
