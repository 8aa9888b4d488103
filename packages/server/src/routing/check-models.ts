/** Checks the models of this machine that a configuration names, without loading them. */
import { dirname, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import type { SherpaOnnxModelSettings } from "../config/engines/sherpa-onnx.ts";
import { describeGguf } from "../model-files/gguf-file.ts";
import { findModelFile } from "../model-files/find-model-file.ts";
import { modelsDirectoryOf } from "../model-files/pull-options.ts";
import { listStoredModels } from "../model-files/stored-models.ts";

/** A sentence about each model that cannot be used, with its place in the configuration. Of files it names the paths. */
export async function findModelProblems({ engines, storage }: Pick<Config, "engines" | "storage">): Promise<string[]> {
  const problems: string[] = [];
  const check = async (place: string, look: () => Promise<unknown>): Promise<void> => {
    try {
      await look();
    } catch (error) {
      const { message, cause } = error as Error;
      const details = cause instanceof Error ? ` (${cause.message})` : "";
      problems.push(`${place}: ${message.replace(/\.$/, "")}${details}.`);
    }
  };
  for (const [name, settings] of Object.entries(engines)) {
    if (settings.type === "llama_cpp")
      for (const [id, { file }] of Object.entries(settings.models))
        await check(`engines.${name}.models.${id}`, async () =>
          describeGguf(await findModelFile(file, modelsDirectoryOf(storage.data_dir))),
        );
    if (settings.type === "sherpa_onnx")
      for (const [id, model] of Object.entries(settings.models))
        await check(`engines.${name}.models.${id}`, () => checkFolder(id, model, storage.data_dir));
  }
  return problems;
}

/** A published Piper voice lacks files until a server prepares it. */
async function checkFolder(id: string, model: SherpaOnnxModelSettings, dataDirectory: string): Promise<void> {
  const folder = resolve(modelsDirectoryOf(dataDirectory), model.folder);
  const { models } = await listStoredModels(dataDirectory);
  const voices = models.filter(({ format, path }) => format === "piper" && dirname(path) === folder);
  if (voices.some(({ problem }) => problem === undefined)) return;
  const { resolveModel } = await import("../engines/sherpa-onnx/resolve-model.ts");
  await resolveModel(id, model, dataDirectory);
}
