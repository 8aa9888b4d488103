/**
 * The prices that vendors publish, as @pydantic/genai-prices has them, without what we do not read.
 * https://github.com/pydantic/genai-prices
 */
import type { ModelInfo, Provider } from "@pydantic/genai-prices";

export interface PublishedModel extends Pick<ModelInfo, "id" | "match" | "prices"> {}

export interface PublishedVendor extends Pick<
  Provider,
  "id" | "name" | "api_pattern" | "fallback_model_providers" | "model_match" | "provider_match"
> {
  readonly models: readonly PublishedModel[];
}

export type PublishedTable = readonly PublishedVendor[];

/** The release that `package.json` pins, and the day of its publication. */
export const tableRelease = { version: "0.1.8", date: "2026-09-23" } as const;
