/** Settings of an engine of type `pocketsphinx`: English transcription on this machine with Debian's PocketSphinx. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";

export const pocketSphinxEngine = Type.Object(
  {
    type: Type.Literal("pocketsphinx", { description: "The PocketSphinx library, if it is installed." }),
    library: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Path of `libpocketsphinx`. Absent: searched for in the system's library folders.",
      }),
    ),
    model_dir: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "Folder of the US English model; it contains `en-us/`, `en-us.lm.bin` and `cmudict-en-us.dict`. Absent: searched for in the usual system folders.",
      }),
    ),
    processes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        description:
          "Number of decoder processes; each decodes one utterance at a time and needs 170 MB. Absent: one per core, at most 4.",
      }),
    ),
    queue_limit: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 64,
      description: "Maximum number of calls that wait for a process; more fail with 503.",
      ...limitsInput("Transcription and audio", "overloaded"),
    }),
    preload: Type.Boolean({
      default: false,
      description: "Start one process with the server, so the first call does not wait a second for it.",
    }),
    idle_unload_ms: Type.Integer({
      minimum: 1_000,
      maximum: 2_147_483_647,
      default: 600_000,
      description: "Idle time after which processes are stopped.",
    }),
  },
  { description: "English transcription with PocketSphinx; the model is `pocketsphinx`." },
);
export type PocketSphinxEngineSettings = Static<typeof pocketSphinxEngine>;
