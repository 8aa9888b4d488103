/** Settings of transcription for all engines: `transcription` of the configuration file. */
import { Type } from "typebox";
import { limitsInput } from "../input-limits.ts";
import { bytes } from "./setting-types.ts";

export const transcription = Type.Object(
  {
    max_upload_bytes: bytes(
      268_435_456,
      "Largest recording; a larger one is a 413.",
      limitsInput("Forms and uploads", "payload_too_large"),
    ),
    max_audio_seconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 14_400,
      description: "Longest recording, in seconds; a longer one is a 413. Changes take effect without a restart.",
      ...limitsInput("Transcription and audio", "payload_too_large"),
    }),
    timeout_seconds: Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      default: 60,
      description:
        "Time limit of a call that sends no `timeout`, in seconds after its upload, for a very short recording. Changes take effect without a restart.",
    }),
    timeout_per_audio_second: Type.Number({
      minimum: 0,
      maximum: 1_000,
      default: 3,
      description:
        "Seconds added to `timeout_seconds` for each second of the recording: a recording of 5 minutes may take 60 + 3 × 300 seconds. Changes take effect without a restart.",
    }),
    decoder_workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        description:
          "Number of threads that decode MP3, FLAC, Ogg, WebM and MP4, one recording each. Absent: twice the number of CPU cores, at least 4.",
      }),
    ),
    text_formats: Type.Boolean({
      default: false,
      description:
        "Accept OpenAI's values `text`, `srt` and `vtt` of `response_format`, in addition to `json` and `verbose_json`. Changes take effect without a restart.",
    }),
    silence_text: Type.Enum(["null", "empty"], {
      default: "null",
      description:
        "What `text` of a `json` response is if nothing was said: `null`, as AI Refinery answers, or `empty` text, as OpenAI answers. Clients that check types, such as openai-java and the AI SDK, and the types of airefinery-sdk, refuse null. Changes take effect without a restart.",
    }),
    ffmpeg: Type.String({
      default: "ffmpeg",
      description:
        "The program that decodes AAC and Apple Lossless (`.m4a`, `.mp4`, `.aac`): a path, or a name in PATH. Without it, these files are refused.",
    }),
    sentences: Type.Boolean({
      default: false,
      description:
        "Start each segment with a capital letter and end it with a period, for models that write neither. Changes take effect without a restart.",
    }),
  },
  { default: {}, description: "Transcription." },
);
