/** Settings of an engine of type `llama_cpp`: GGUF model files run by llama.cpp on this machine. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";
import { modelProcessSettings } from "./model-process.ts";

export const llamaCppModelSettings = Type.Object(
  {
    file: Type.String({
      minLength: 1,
      description:
        "The GGUF file: a path, or what `sounding models pull` was given (`owner/repository/file.gguf`), looked for in `models` of the data directory.",
    }),
    context_size: Type.Optional(
      Type.Integer({
        minimum: 256,
        maximum: 16_777_216,
        description:
          "Tokens that prompt and answer may have together. Absent: what the model was trained on, at most 8192.",
      }),
    ),
    parallel: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        default: 4,
        description: "Answers generated at the same time; each takes memory for `context_size` tokens.",
      }),
    ),
    queue_limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        default: 64,
        description: "Answers that may wait for a free place; further calls get the error `overloaded`.",
        ...limitsInput("Chat completions", "overloaded"),
      }),
    ),
    threads: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1024,
        description: "CPU threads, at most one a core. Absent: the cores that are free when the model is loaded.",
      }),
    ),
    gpu: Type.Optional(
      Type.Union([Type.Literal(false), Type.Enum(["auto", "cuda", "vulkan", "metal"])], {
        default: "auto",
        description: "The GPU interface to use; `auto` takes what is installed and found, `false` the CPU alone.",
      }),
    ),
    gpu_layers: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description: "Layers of the model that the GPU computes. Absent: as many as fit.",
      }),
    ),
    chat_template: Type.Optional(
      Type.String({ minLength: 1, description: "Jinja template in place of the one in the model file." }),
    ),
    ...modelProcessSettings,
  },
  { additionalProperties: false, description: "One model file." },
);
export type LlamaCppModelSettings = Static<typeof llamaCppModelSettings>;

export const llamaCppEngineSettings = Type.Object(
  {
    type: Type.Literal("llama_cpp", { description: "llama.cpp on this machine." }),
    models: Type.Record(Type.String({ minLength: 1, maxLength: 512 }), llamaCppModelSettings, {
      minProperties: 1,
      description: "The engine's models by name.",
    }),
  },
  { additionalProperties: false, description: "Runs GGUF model files with llama.cpp, a process for each." },
);
export type LlamaCppEngineSettings = Static<typeof llamaCppEngineSettings>;
