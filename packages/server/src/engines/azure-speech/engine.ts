/**
 * Implements the engine type `azure_speech`. docs/operate/engines/azure-speech.md describes its settings and behavior.
 * docs/adr/0013-speech.md
 */
import { Agent } from "undici";
import type { AzureSpeechSettings } from "../../config/engines/azure-speech.ts";
import type { Logger } from "../../logger.ts";
import type { Engine } from "../engine.ts";
import { noSuchModel } from "../no-such-model.ts";
import { ConnectionPool } from "../upstream-http/connection-pool.ts";
import { timeLimits } from "../upstream-http/time-limits.ts";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { azureSpeechEndpoint } from "./endpoint.ts";
import { createAzureSpeechModel } from "./speech-model.ts";
import { createAzureTranscriptionModel } from "./transcription-model.ts";
import { VoiceList } from "./voice-list.ts";

const speechModel = "azure-speech";
const transcriptionModel = "azure-transcription";
const modelNames = [speechModel, transcriptionModel];

/** @throws AppError invalid_request unless there is either a region or an address */
export function createAzureSpeechEngine(
  name: string,
  settings: AzureSpeechSettings,
  { logger }: { logger: Logger },
): Engine {
  const endpoint = azureSpeechEndpoint(settings);
  const limits = timeLimits(settings);
  const maxAnswerBytes = settings.max_answer_bytes;
  const onCredentialsRefused = (status: number): void =>
    logger.error({ engine: name, status }, "an engine rejected its credentials");
  const poolAt = (origin: string): ConnectionPool =>
    new ConnectionPool({
      origin,
      maxConnections: settings.max_connections,
      maxQueued: settings.max_queued,
      queueTimeoutMs: settings.queue_timeout_ms,
      connectTimeoutMs: limits.connectTimeoutMs,
      onCredentialsRefused,
    });
  const voicePool = poolAt(endpoint.voices.origin);
  const transcriptionPool = poolAt(endpoint.transcription.origin);
  const { headers } = endpoint;
  const { path } = endpoint.voices;
  const voices = new VoiceList({
    pool: voicePool,
    path,
    headers,
    limits,
    maxAnswerBytes,
    defaultVoice: settings.default_voice,
  });
  const slots = new ConcurrencyLimit(`The engine ${JSON.stringify(name)}`, settings.max_connections);
  const agent = new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  const check = (model: string): void => {
    if (modelNames.includes(model)) return;
    throw noSuchModel(name, model, modelNames);
  };
  return {
    name,
    speech(model, timeouts) {
      check(model);
      if (model !== speechModel) return undefined;
      const own = timeLimits(settings, timeouts);
      const url = endpoint.speechUrl;
      return createAzureSpeechModel({
        url,
        headers,
        agent,
        limits: own,
        maxAnswerBytes,
        voices,
        slots,
        onCredentialsRefused,
      });
    },
    transcription(model, timeouts) {
      check(model);
      if (model !== transcriptionModel) return undefined;
      const own = timeLimits(settings, timeouts);
      transcriptionPool.raiseConnectTimeout(own.connectTimeoutMs);
      return createAzureTranscriptionModel({
        pool: transcriptionPool,
        path: endpoint.transcription.path,
        headers,
        limits: own,
        maxAnswerBytes,
        maxSpeakers: settings.max_speakers,
      });
    },
    listModels: async () => modelNames.map((id) => ({ id, created: 0, ownedBy: name })),
    async close() {
      await Promise.all([voicePool.close(), transcriptionPool.close()]);
      if (!agent.closed) await agent.close();
    },
  };
}
