/** Implements `EmbeddingModel` for a GGUF model. */
import { AppError } from "../../errors.ts";
import type { EmbeddingCall, EmbeddingModel } from "../embedding-model.ts";
import type { EmbeddedInput, EmbeddingInput } from "./protocol.ts";
import type { SupervisedModel } from "./supervised-model.ts";

export function createEmbeddingModel(model: Pick<SupervisedModel, "embed">): EmbeddingModel {
  return {
    // The process gets them one at a time.
    mostInputs: Number.MAX_SAFE_INTEGER,
    async embed(call) {
      refuseOthers(call);
      const embedded = await model.embed(toInputs(call), call.signal);
      return {
        vectors: embedded.map(toVector),
        tokens: embedded.reduce((sum, { tokens }) => sum + tokens, 0),
      };
    },
  };
}

/** @throws AppError unsupported_parameter for a parameter that no local model has */
function refuseOthers({ others }: EmbeddingCall): void {
  for (const [param, value] of Object.entries(others)) {
    if (value === null) continue;
    throw new AppError("unsupported_parameter", `${param} is not supported by this model.`, { param });
  }
}

function toInputs({ inputs, dimensions, fairnessKey: group = "" }: EmbeddingCall): EmbeddingInput[] {
  const nameOf = (index: number): string => (inputs.length === 1 ? "input" : `input[${index}]`);
  return inputs.map((text, index) => ({ text, param: nameOf(index), dimensions, group }));
}

function toVector({ vector }: EmbeddedInput): Float32Array {
  // A copy, because the bytes may not be aligned.
  return new Float32Array(Uint8Array.from(Buffer.from(vector, "base64")).buffer);
}
