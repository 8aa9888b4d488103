/**
 * Models on Amazon Bedrock that embed: Titan, Nova and Cohere. The adapter knows their families by their names, and takes
 * others for Titan. https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
 */
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import { cohereOptions, mostCohereInputs } from "./cohere-embeddings.ts";
import { refuseDimensions, refuseUnknownParameters } from "./embedding-parameters.ts";
import type { EmbeddingParameters, VendorEmbeddings } from "./vendor.ts";

const isCohere = (model: string): boolean => model.includes("cohere.embed-");
const isNova = (model: string): boolean => model.includes("amazon.nova-");
const isBoolean = (value: unknown): boolean => typeof value === "boolean";

const purposes = [
  "GENERIC_INDEX",
  "TEXT_RETRIEVAL",
  "IMAGE_RETRIEVAL",
  "VIDEO_RETRIEVAL",
  "DOCUMENT_RETRIEVAL",
  "AUDIO_RETRIEVAL",
  "GENERIC_RETRIEVAL",
  "CLASSIFICATION",
  "CLUSTERING",
];

export function bedrockEmbeddings(label: string): VendorEmbeddings {
  const titan = (model: string, parameters: EmbeddingParameters) => {
    const isSecond = model.includes("titan-embed-text-v2");
    refuseUnknownParameters(label, parameters, isSecond ? { normalize: isBoolean } : {});
    refuseDimensions(label, parameters, isSecond ? [256, 512, 1024] : undefined);
    return { ...parameters.others, dimensions: parameters.dimensions };
  };
  const nova = (parameters: EmbeddingParameters) => {
    refuseUnknownParameters(label, parameters, {
      embeddingPurpose: purposes,
      truncationMode: ["NONE", "START", "END"],
    });
    refuseDimensions(label, parameters, [256, 384, 1024, 3072]);
    // The adapter cuts texts that are too long unless it is told not to.
    const { embeddingPurpose, truncationMode: truncate = "NONE" } = parameters.others;
    return { embeddingPurpose, truncate, embeddingDimension: parameters.dimensions };
  };
  return {
    mostInputs: (model) => (isCohere(model) ? mostCohereInputs : 1),
    providerOptions(model, parameters) {
      const amazonBedrock = isCohere(model)
        ? cohereOptions(label, model, parameters)
        : isNova(model)
          ? nova(parameters)
          : titan(model, parameters);
      return { amazonBedrock } as SharedV4ProviderOptions;
    },
  };
}
