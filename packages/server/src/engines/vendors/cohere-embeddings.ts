/** Cohere's models that embed, at Cohere and on Amazon Bedrock. https://docs.cohere.com/reference/embed */
import { refuseDimensions, refuseUnknownParameters } from "./embedding-parameters.ts";
import type { EmbeddingParameters } from "./vendor.ts";

/** Most texts of one request. */
export const mostCohereInputs = 96;

const inputTypes = ["search_document", "search_query", "classification", "clustering"];
const truncations = ["NONE", "START", "END"];
const lengths = [256, 512, 1024, 1536];
/** Versions 2 and 3 have vectors of one length. */
const older = /embed-(?:english|multilingual)/;

/**
 * The parameters under the adapter's names. The API requires an `input_type`, and cuts texts that are too long unless it is
 * told not to.
 */
export function cohereOptions(label: string, model: string, parameters: EmbeddingParameters) {
  refuseUnknownParameters(label, parameters, { input_type: inputTypes, truncate: truncations });
  refuseDimensions(label, parameters, older.test(model) ? undefined : lengths);
  const { input_type: inputType = "search_document", truncate = "NONE" } = parameters.others;
  return { inputType, truncate, outputDimension: parameters.dimensions };
}
