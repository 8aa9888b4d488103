/** Transcription, whatever engine listens: `transcription` of the configuration file. */
import { Type } from "typebox";
import { limitsInput } from "../input-limits.ts";
import { bytes } from "./setting-types.ts";

export const transcription = Type.Object(
  {
    max_upload_bytes: bytes(
      268_435_456,
      "Largest recording; more is a 413.",
      limitsInput("Forms and uploads", "payload_too_large"),
    ),
    max_audio_seconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 14_400,
      description: "Longest recording, seconds; more is a 413. May change while the server runs.",
      ...limitsInput("Transcription and audio", "payload_too_large"),
    }),
    decoder_workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        description:
          "Threads that decode MP3, FLAC, Ogg, WebM and MP4, one recording each. Default: twice the number of CPU cores, at least 4.",
      }),
    ),
    sentences: Type.Boolean({
      default: false,
      description:
        "Begin each segment with a capital and end it with a full stop, where a model writes neither. May change while the server runs.",
    }),
  },
  { default: {}, description: "Transcription." },
);
