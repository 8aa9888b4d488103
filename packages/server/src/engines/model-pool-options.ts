/** How pools of a model's processes name it and log its failures. */
import type { ProcessPoolOptions } from "../child-process/pooled-process.ts";

export function modelPoolOptions(id: string): Pick<ProcessPoolOptions<never>, "what" | "logFields" | "messages"> {
  return {
    what: `The model ${JSON.stringify(id)}`,
    logFields: { model: id },
    messages: {
      failed: "a model failed",
      notStarted: "a model cannot be loaded",
      idle: "model unloaded after being idle",
    },
  };
}
