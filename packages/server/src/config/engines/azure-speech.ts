/** Settings of an engine of type `azure_speech`: Azure's own service for speech and transcription. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";
import { bytes, milliseconds, sendableKey, secret } from "../setting-types.ts";
import { engineTimeouts } from "./upstream.ts";

export const azureSpeechEngine = Type.Object(
  {
    type: Type.Literal("azure_speech", { description: "Azure Speech." }),
    region: Type.Optional(
      Type.String({
        pattern: "^[a-z0-9-]+$",
        description: "Region of the resource, such as `westeurope`. Either this or `base_url` must be set.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s/?#@]+/?$",
        description:
          "Address of a resource with its own domain, such as `https://example.cognitiveservices.azure.com`; in place of `region`.",
      }),
    ),
    api_key: secret("Key of the resource, sent as `Ocp-Apim-Subscription-Key`.", { pattern: sendableKey }),
    default_voice: Type.String({
      minLength: 1,
      maxLength: 256,
      default: "en-US-AvaMultilingualNeural",
      description:
        "The voice that stands first in the list. It, and then the voices of its language, stand in for names like `alloy`.",
    }),
    max_speakers: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 35,
        description: "Tell speakers apart in transcriptions, at most so many. Absent: they are not told apart.",
      }),
    ),
    max_connections: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 200,
      description: "Calls at one time: so many that speak, where a further one is a 503, and so many that transcribe.",
    }),
    max_queued: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 1_024,
      description: "Transcriptions that wait for a connection; a further one is a 503.",
      ...limitsInput("Transcription and audio", "overloaded"),
    }),
    queue_timeout_ms: milliseconds(30_000, "Longest wait of such a call; then a 503."),
    max_answer_bytes: bytes(33_554_432, "Largest answer, or sound of one phrase; more is a 502."),
    ...engineTimeouts,
  },
  { description: "Speech with word times, and transcription with word times and speakers, by Azure Speech." },
);
export type AzureSpeechSettings = Static<typeof azureSpeechEngine>;
