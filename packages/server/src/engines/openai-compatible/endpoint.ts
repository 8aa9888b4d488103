/** Builds the URLs and credentials of OpenAI's API and of Azure's variant. */
import type { AzureOpenAiSettings, OpenAiCompatibleSettings } from "../../config/engines/openai-compatible.ts";
import { AppError } from "../../errors.ts";
import type { ChatWire } from "../wire.ts";
import { splitBaseUrl } from "../upstream-http/base-url.ts";

export interface Endpoint {
  readonly origin: string;
  /** Names and values in turn, sent with every request. */
  readonly headers: readonly string[];
  /** Path and query of the chat completions of a model. */
  chatPath(model: string): string;
  /** The same of completions of raw prompts. */
  completionPath(model: string): string;
  /** The same of speech. */
  speechPath(model: string): string;
  /** The same of transcriptions. */
  transcriptionPath(model: string): string;
  /** The same of translations of recordings. */
  translationPath(model: string): string;
  /** The same of embeddings. */
  embeddingPath(model: string): string;
  /** The same of another wire, or of an operation under it. */
  wirePath(wire: ChatWire, model: string, operation?: string): string;
  /** The wires that the API is known to have without being configured. */
  readonly knownWires: readonly ChatWire[];
  /** What the request's `model` must be. */
  wireModel(model: string): string;
  /** Path and query of the list of models; undefined when the engine has none that is of use. */
  readonly modelsPath: string | undefined;
}

/** `base_url` has the version in it, as OpenAI's own clients have it: `https://api.openai.com/v1`. */
export function openAiEndpoint(settings: OpenAiCompatibleSettings): Endpoint {
  const { origin, path } = splitBaseUrl(settings.base_url);
  const headers = [
    ...(settings.api_key === undefined ? [] : ["authorization", `Bearer ${settings.api_key}`]),
    ...(settings.organization === undefined ? [] : ["openai-organization", settings.organization]),
    ...(settings.project === undefined ? [] : ["openai-project", settings.project]),
  ];
  return {
    origin,
    headers: withOwnHeaders(headers, settings.headers),
    chatPath: () => `${path}/chat/completions`,
    completionPath: () => `${path}/completions`,
    speechPath: () => `${path}/audio/speech`,
    transcriptionPath: () => `${path}/audio/transcriptions`,
    translationPath: () => `${path}/audio/translations`,
    embeddingPath: () => `${path}/embeddings`,
    wirePath: (wire, _, operation) => `${path}/${joinPath(wire, operation)}`,
    knownWires: origin === "https://api.openai.com" ? ["responses"] : [],
    wireModel: (model) => model,
    modelsPath: `${path}/models`,
  };
}

/**
 * With `api_version` a model is a deployment in the path; without, Azure's newer v1 API has it in the body.
 * https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
 */
export function azureEndpoint(settings: AzureOpenAiSettings): Endpoint {
  const { origin, path } = splitBaseUrl(settings.base_url);
  const root = path.replace(/\/openai(?:\/v1)?$/, "");
  const version = settings.api_version;
  const deployment = (model: string): string =>
    Object.hasOwn(settings.deployments, model) ? (settings.deployments[model] ?? model) : model;
  const pathOf = (operation: string, model: string): string =>
    version === undefined
      ? `${root}/openai/v1/${operation}`
      : `${root}/openai/deployments/${encodeURIComponent(deployment(model))}/${operation}?api-version=${encodeURIComponent(version)}`;
  return {
    origin,
    headers: withOwnHeaders(["api-key", settings.api_key], settings.headers),
    chatPath: (model) => pathOf("chat/completions", model),
    completionPath: (model) => pathOf("completions", model),
    speechPath: (model) => pathOf("audio/speech", model),
    transcriptionPath: (model) => pathOf("audio/transcriptions", model),
    translationPath: (model) => pathOf("audio/translations", model),
    embeddingPath: (model) => pathOf("embeddings", model),
    // They are not under deployments.
    wirePath: (wire, _, operation) => `${root}/openai/v1/${joinPath(wire, operation)}`,
    knownWires: version === undefined ? ["responses"] : [],
    wireModel: deployment,
    // Azure lists the models that could be deployed, not those that are.
    modelsPath: undefined,
  };
}

function joinPath(wire: ChatWire, operation: string | undefined): string {
  return operation === undefined ? wire : `${wire}/${operation}`;
}

/** What HTTP itself, or the body, decides. */
const reservedHeaders =
  /^(?:host|connection|content-length|content-type|transfer-encoding|keep-alive|upgrade|expect|te|trailer|accept-encoding)$/i;

/**
 * The configured headers, which override ours of the same name.
 * @throws AppError invalid_request for a name that is not theirs to set
 */
function withOwnHeaders(headers: readonly string[], own: Readonly<Record<string, string>>): string[] {
  for (const name of Object.keys(own)) {
    if (!reservedHeaders.test(name)) continue;
    throw new AppError(
      "invalid_request",
      `The engine's headers must not contain ${JSON.stringify(name)}; remove it from the configuration.`,
    );
  }
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const ours = ["user-agent", "sounding", ...headers];
  const kept = ours.filter((_, at) => !names.has(ours[at - (at % 2)]?.toLowerCase() ?? ""));
  return [...kept, ...Object.entries(own).flat()];
}
