/** Settings of an engine of type `espeak`: speech in over 100 languages with espeak-ng on this machine. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";

export const espeakEngine = Type.Object(
  {
    type: Type.Literal("espeak", { description: "espeak-ng, as an installed program or as an npm package." }),
    program: Type.String({
      minLength: 1,
      default: "espeak-ng",
      description: "The espeak-ng program: a path, or a name to search for in PATH.",
    }),
    variant: Type.Optional(
      Type.Union([Type.Literal("program"), Type.Literal("package")], {
        description:
          "Which espeak-ng to use: the installed `program`, or the npm `package`, which provides exact word timings. Absent: the program if it is installed, otherwise the package.",
      }),
    ),
    processes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        description: "Maximum number of concurrent processes. Absent: one per core, at most 8.",
      }),
    ),
    queue_limit: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 256,
      description: "Maximum number of calls that wait for a process; more fail with 503.",
      ...limitsInput("Speech", "overloaded"),
    }),
  },
  { description: "Speech synthesis in over 100 languages with espeak-ng; the model is `espeak-ng`." },
);
export type EspeakEngineSettings = Static<typeof espeakEngine>;
