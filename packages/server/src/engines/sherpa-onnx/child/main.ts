/**
 * Entry point of a model's process: loads one model and does the work that arrives over the IPC channel, one piece at a time.
 */
import { listenToParent, sendToParent } from "../../../child-process/parent-channel.ts";
import type { FromModel, LoadSettings, ToModel } from "../protocol.ts";
import type { LoadedModel } from "./loaded-model.ts";

let model: LoadedModel | undefined;

const send: (message: FromModel) => void = sendToParent;

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

async function load(settings: LoadSettings): Promise<void> {
  try {
    // Here, so that a platform without the library is a message and not the end of the process.
    const { loadModel } = await import("./loaded-model.ts");
    const startMs = performance.now();
    model = loadModel(settings);
    send({ type: "ready", loadMs: performance.now() - startMs });
  } catch (error) {
    send({ type: "unusable", message: messageOf(error) });
  }
}

listenToParent((message: ToModel) => {
  switch (message.type) {
    case "load":
      void load(message.settings);
      return;
    case "work":
      try {
        if (model === undefined) throw new Error("The model is not loaded.");
        send({ type: "done", job: message.job, result: model.run(message.work) });
      } catch (error) {
        send({ type: "failed", job: message.job, message: messageOf(error) });
      }
      return;
    case "forget":
      model?.forget(message.stream);
  }
});
