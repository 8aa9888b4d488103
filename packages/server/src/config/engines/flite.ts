/** Settings of an engine of type `flite`: English speech on this machine, with nothing to install. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";

export const fliteEngine = Type.Object(
  {
    type: Type.Literal("flite", { description: "Flite, in WebAssembly." }),
    workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        description: "Threads that speak; each takes 20 to 50 MB. Absent: one for each core, at most 8.",
      }),
    ),
    preload: Type.Boolean({
      default: true,
      description: "Start one thread with the server, so that the first call need not wait for it.",
    }),
    queue_limit: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 256,
      description: "Calls beyond `workers` that take turns; a further one is a 503.",
      ...limitsInput("Speech", "overloaded"),
    }),
  },
  { description: "English speech by Flite: the model `flite` with the voices `slt`, `rms`, `awb` and `kal16`." },
);
export type FliteEngineSettings = Static<typeof fliteEngine>;
