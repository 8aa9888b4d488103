/** Settings of an engine of type `azure_speech`: Azure's speech synthesis and transcription. */
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
          "Address of a resource with its own domain, such as `https://example.cognitiveservices.azure.com`. Replaces `region`.",
      }),
    ),
    api_key: secret("Key of the resource, sent as `Ocp-Apim-Subscription-Key`.", { pattern: sendableKey }),
    default_voice: Type.String({
      minLength: 1,
      maxLength: 256,
      default: "en-US-AvaMultilingualNeural",
      description:
        "The default voice, listed first. It, and then other voices of its language, substitute for well-known names such as `alloy`.",
    }),
    max_speakers: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 35,
        description:
          "Maximum number of speakers to distinguish in a transcription. Absent: speakers are not distinguished.",
      }),
    ),
    max_connections: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 200,
      description:
        "Maximum number of concurrent synthesis calls, and, separately, of concurrent transcriptions. A synthesis call beyond that fails with 503.",
    }),
    max_queued: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 1_024,
      description: "Maximum number of transcriptions that wait for a connection; more fail with 503.",
      ...limitsInput("Transcription and audio", "overloaded"),
    }),
    queue_timeout_ms: milliseconds(30_000, "Longest wait for a connection; then the call fails with 503."),
    max_answer_bytes: bytes(33_554_432, "Largest response, or audio of one phrase; a larger one is a 502."),
    ...engineTimeouts,
  },
  { description: "Azure Speech: synthesis with word timings, and transcription with word timings and speakers." },
);
export type AzureSpeechSettings = Static<typeof azureSpeechEngine>;
