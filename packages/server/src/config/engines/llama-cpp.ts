/** Settings of an engine of type `llama_cpp`: GGUF model files run by llama.cpp on this machine. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";
import { modelProcessSettings } from "./model-process.ts";

const embeddings = Type.Object(
  {
    pooling: Type.Optional(
      Type.Enum(["mean", "cls", "last"], {
        description:
          "How the vectors of a text's tokens become one: their mean, the first one's or the last one's. Absent: as the file says.",
      }),
    ),
    normalize: Type.Optional(
      Type.Boolean({
        default: true,
        description: "Scale each vector to length 1, which most models expect.",
      }),
    ),
    min_dimensions: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_536,
        description:
          "Smallest number of components that `dimensions` may request, for models that are trained for it (Matryoshka): the others are cut off. Absent: `dimensions` is refused.",
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      "Uses the model to embed texts. Absent: the file's metadata say whether it embeds or chats, and how its vectors are pooled.",
  },
);

export const llamaCppModelSettings = Type.Object(
  {
    file: Type.String({
      minLength: 1,
      description:
        "The GGUF file: a path, or the name that was passed to `sounding models pull` (`owner/repository/file.gguf`), which is looked up in `models` in the data directory.",
    }),
    context_size: Type.Optional(
      Type.Integer({
        minimum: 256,
        maximum: 16_777_216,
        description:
          "Context size in tokens, shared by prompt and completion. Absent: the context the model was trained with, at most 8192. For a model that embeds, the most tokens of a text; absent: at most 2048.",
      }),
    ),
    parallel: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        default: 4,
        description:
          "Maximum number of completions generated concurrently; each needs memory for `context_size` tokens. A model that embeds takes one text at a time.",
      }),
    ),
    queue_limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        default: 64,
        description:
          "Maximum number of completions, or requests for embeddings, that wait; more fail with `overloaded`.",
        ...limitsInput("Chat completions", "overloaded"),
      }),
    ),
    threads: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1024,
        description:
          "Number of CPU threads, at most one per core. Absent: the cores that are free when the model is loaded.",
      }),
    ),
    gpu: Type.Optional(
      Type.Union([Type.Literal(false), Type.Enum(["auto", "cuda", "vulkan", "metal"])], {
        default: "auto",
        description: "GPU backend: `auto` uses one that is installed and detected, `false` uses the CPU only.",
      }),
    ),
    gpu_layers: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description: "Number of model layers to run on the GPU. Absent: as many as fit.",
      }),
    ),
    chat_template: Type.Optional(
      Type.String({ minLength: 1, description: "Jinja template that replaces the one in the model file." }),
    ),
    embeddings: Type.Optional(embeddings),
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
      description: "The engine's models, by name.",
    }),
  },
  { additionalProperties: false, description: "GGUF model files, run by llama.cpp; each model has its own process." },
);
export type LlamaCppEngineSettings = Static<typeof llamaCppEngineSettings>;
