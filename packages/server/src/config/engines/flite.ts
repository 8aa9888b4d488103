/** Settings of an engine of type `flite`: English speech on this machine, with nothing to install. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";

export const fliteEngine = Type.Object(
  {
    type: Type.Literal("flite", { description: "Flite, compiled to WebAssembly." }),
    workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        description: "Number of synthesis threads; each needs 20 to 50 MB. Absent: one per core, at most 8.",
      }),
    ),
    preload: Type.Boolean({
      default: true,
      description: "Start one thread with the server, so the first call does not wait for it.",
    }),
    queue_limit: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 256,
      description: "Maximum number of calls that wait for a thread; more fail with 503.",
      ...limitsInput("Speech", "overloaded"),
    }),
  },
  {
    description:
      "English speech synthesis with Flite; the model is `flite` and its voices are `slt`, `rms`, `awb` and `kal16`.",
  },
);
export type FliteEngineSettings = Static<typeof fliteEngine>;
