/** Settings of an engine of type `pocketsphinx`: English transcription on this machine by Debian's PocketSphinx. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";

export const pocketSphinxEngine = Type.Object(
  {
    type: Type.Literal("pocketsphinx", { description: "The library PocketSphinx, where it is installed." }),
    library: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Path of `libpocketsphinx`. Absent: looked for where systems keep libraries.",
      }),
    ),
    model_dir: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "Folder of the US English model, with `en-us/`, `en-us.lm.bin` and `cmudict-en-us.dict` in it. Absent: looked for where systems keep it.",
      }),
    ),
    processes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        description:
          "Processes that decode, one utterance each; each takes 170 MB. Absent: one for each core, at most 4.",
      }),
    ),
    queue_limit: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 64,
      description: "Calls beyond `processes` that take turns; a further one is a 503.",
      ...limitsInput("Transcription and audio", "overloaded"),
    }),
    preload: Type.Boolean({
      default: false,
      description: "Start one process with the server, so that the first call need not wait a second for it.",
    }),
    idle_unload_ms: Type.Integer({
      minimum: 1_000,
      maximum: 2_147_483_647,
      default: 600_000,
      description: "Time without work after which processes are ended.",
    }),
  },
  { description: "English transcription by PocketSphinx: the model `pocketsphinx`." },
);
export type PocketSphinxEngineSettings = Static<typeof pocketSphinxEngine>;
