/**
 * Implements the engine type `openai_compatible` (vLLM, llama.cpp's server, Ollama, OpenAI, OpenRouter and many more), and
 * `azure_openai`. docs/operate/engines/openai-compatible.md describes their settings.
 * docs/adr/0009-upstreams-and-wires.md
 */
import type { AzureOpenAiSettings, OpenAiCompatibleSettings } from "../../config/engines/openai-compatible.ts";
import type { Logger } from "../../logger.ts";
import type { ChatEngine } from "../engine.ts";
import { ConnectionPool } from "../upstream-http/connection-pool.ts";
import { azureEndpoint, openAiEndpoint, type Endpoint } from "./endpoint.ts";
import { listModels } from "./list-models.ts";
import { createOpenAiChatModel } from "./openai-chat-model.ts";
import { createOpenAiEmbeddingModel } from "./openai-embedding-model.ts";
import { capabilitiesByName } from "./listed-capabilities.ts";
import { createOpenAiSpeechModel } from "./openai-speech-model.ts";
import { createOpenAiTranscriptionModel } from "./openai-transcription-model.ts";
import { timeLimits } from "../upstream-http/time-limits.ts";

/** What an engine needs of the server. */
interface EngineContext {
  readonly logger: Logger;
}

/** @throws AppError invalid_request for a header that cannot be set */
export function createOpenAiCompatibleEngine(
  name: string,
  settings: OpenAiCompatibleSettings,
  context: EngineContext,
): ChatEngine {
  return createEngine({ name, settings, endpoint: openAiEndpoint(settings), ...context });
}

/**
 * Its models are what `models` lists, or else the names in `deployments`.
 * @throws AppError invalid_request for a header that cannot be set
 */
export function createAzureOpenAiEngine(
  name: string,
  settings: AzureOpenAiSettings,
  context: EngineContext,
): ChatEngine {
  const models = settings.models ?? Object.keys(settings.deployments);
  return createEngine({ name, settings: { ...settings, models }, endpoint: azureEndpoint(settings), ...context });
}

interface EngineParts extends EngineContext {
  readonly name: string;
  readonly settings: OpenAiCompatibleSettings | AzureOpenAiSettings;
  readonly endpoint: Endpoint;
}

function createEngine({ name, settings, endpoint, logger }: EngineParts): ChatEngine {
  const limits = timeLimits(settings);
  const pool = new ConnectionPool({
    origin: endpoint.origin,
    maxConnections: settings.max_connections,
    maxQueued: settings.max_queued,
    queueTimeoutMs: settings.queue_timeout_ms,
    connectTimeoutMs: limits.connectTimeoutMs,
    onCredentialsRefused: (status) => logger.error({ engine: name, status }, "an engine rejected its credentials"),
  });
  return {
    name,
    chat(model, timeouts) {
      const own = timeLimits(settings, timeouts);
      pool.raiseConnectTimeout(own.connectTimeoutMs);
      return createOpenAiChatModel({
        model,
        endpoint,
        pool,
        limits: own,
        unsupportedParameters: settings.unsupported_parameters,
        asksUsage: settings.stream_usage,
        wires: settings.wires ?? endpoint.knownWires,
        maxAnswerBytes: settings.max_answer_bytes,
        maxEventBytes: settings.max_event_bytes,
      });
    },
    speech(model, timeouts) {
      const own = timeLimits(settings, timeouts);
      pool.raiseConnectTimeout(own.connectTimeoutMs);
      const unsupportedParameters = settings.unsupported_parameters;
      return createOpenAiSpeechModel({ model, endpoint, pool, limits: own, unsupportedParameters });
    },
    transcription(model, timeouts) {
      const own = timeLimits(settings, timeouts);
      pool.raiseConnectTimeout(own.connectTimeoutMs);
      return createOpenAiTranscriptionModel({
        model,
        form: settings.transcription_forms[model],
        endpoint,
        pool,
        limits: own,
        unsupportedParameters: settings.unsupported_parameters,
        maxAnswerBytes: settings.max_answer_bytes,
        maxEventBytes: settings.max_event_bytes,
      });
    },
    embeddings(model, timeouts) {
      const own = timeLimits(settings, timeouts);
      pool.raiseConnectTimeout(own.connectTimeoutMs);
      const { max_answer_bytes: maxAnswerBytes, unsupported_parameters: unsupportedParameters } = settings;
      return createOpenAiEmbeddingModel({ model, endpoint, pool, limits: own, unsupportedParameters, maxAnswerBytes });
    },
    listedFor: (model) => settings.capabilities[model] ?? capabilitiesByName(model),
    async listModels(signal) {
      const { modelsPath, headers } = endpoint;
      if (settings.models !== undefined || modelsPath === undefined) {
        return (settings.models ?? []).map((id) => ({ id, created: 0, ownedBy: name }));
      }
      return listModels(pool, {
        path: modelsPath,
        headers: [...headers, "accept", "application/json"],
        signal,
        limits,
        ownedBy: name,
      });
    },
    close: () => pool.close(),
  };
}
