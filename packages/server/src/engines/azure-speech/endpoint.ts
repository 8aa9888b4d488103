/**
 * Builds the addresses of Azure Speech, from a region or a resource's own domain.
 * https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech
 */
import type { AzureSpeechSettings } from "../../config/engines/azure-speech.ts";
import { AppError } from "../../errors.ts";

export interface AzureSpeechEndpoint {
  /** Names and values in turn, sent with every request. */
  readonly headers: readonly string[];
  /** WebSocket of the synthesis. */
  readonly speechUrl: string;
  readonly voices: { readonly origin: string; readonly path: string };
  readonly transcription: { readonly origin: string; readonly path: string };
}

const socketPath = "/tts/cognitiveservices/websocket/v1";
const transcriptionPath = "/speechtotext/transcriptions:transcribe?api-version=2024-11-15";

/** @throws AppError invalid_request unless there is either a region or an address */
export function azureSpeechEndpoint({
  region,
  base_url: baseUrl,
  api_key: key,
}: AzureSpeechSettings): AzureSpeechEndpoint {
  const headers = ["user-agent", "sounding", "ocp-apim-subscription-key", key];
  if ((region === undefined) === (baseUrl === undefined)) {
    throw new AppError("invalid_request", "An engine of type azure_speech needs either region or base_url.");
  }
  if (baseUrl !== undefined) {
    const { origin } = new URL(baseUrl);
    return {
      headers,
      speechUrl: `${origin.replace(/^http/, "ws")}${socketPath}`,
      voices: { origin, path: "/tts/cognitiveservices/voices/list" },
      transcription: { origin, path: transcriptionPath },
    };
  }
  const speechHost = `${region}.tts.speech.microsoft.com`;
  return {
    headers,
    speechUrl: `wss://${speechHost}${socketPath}`,
    voices: { origin: `https://${speechHost}`, path: "/cognitiveservices/voices/list" },
    transcription: { origin: `https://${region}.api.cognitive.microsoft.com`, path: transcriptionPath },
  };
}
