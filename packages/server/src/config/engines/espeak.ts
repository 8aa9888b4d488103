/** Settings of an engine of type `espeak`: over 100 languages by espeak-ng on this machine. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";

export const espeakEngine = Type.Object(
  {
    type: Type.Literal("espeak", { description: "espeak-ng, as a program or as an npm package." }),
    program: Type.String({
      minLength: 1,
      default: "espeak-ng",
      description: "The program: a name that is looked for in PATH, or a path.",
    }),
    variant: Type.Optional(
      Type.Union([Type.Literal("program"), Type.Literal("package")], {
        description:
          "Which espeak-ng speaks: the installed `program`, or the npm `package`, which tells exact word times. Absent: the program where it is installed, else the package.",
      }),
    ),
    processes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        description: "Processes that speak at one time. Absent: one for each core, at most 8.",
      }),
    ),
    queue_limit: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 256,
      description: "Calls beyond `processes` that take turns; a further one is a 503.",
      ...limitsInput("Speech", "overloaded"),
    }),
  },
  { description: "Speech in over 100 languages by espeak-ng: the model `espeak-ng`." },
);
export type EspeakEngineSettings = Static<typeof espeakEngine>;
