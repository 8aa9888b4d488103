/** Worker thread that reads the published prices: the package is a megabyte of code, which takes long to compile. */
import { parentPort } from "node:worker_threads";
import { waitForUpdate } from "@pydantic/genai-prices";
import type { PublishedTable } from "./table.ts";

// Without an update, these are the prices of the package.
const providers = (await waitForUpdate()) ?? [];
const table: PublishedTable = providers.map(
  ({ api_pattern, fallback_model_providers, id, model_match, models, name, provider_match }) => ({
    id,
    name,
    api_pattern,
    ...(fallback_model_providers === undefined ? {} : { fallback_model_providers }),
    ...(model_match === undefined ? {} : { model_match }),
    ...(provider_match === undefined ? {} : { provider_match }),
    models: models.map(({ id: model, match, prices }) => ({ id: model, match, prices })),
  }),
);
parentPort?.postMessage(JSON.stringify(table));
