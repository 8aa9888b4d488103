/** Prepares models for their engine that are stored as they were published. */
import { preparePiperVoice } from "./piper-voice.ts";
import { modelsDirectoryOf } from "./pull-options.ts";
import { describePiperVoice, listStoredModels, type StoredModel } from "./stored-models.ts";

/** The models, with the problems of those that could not be prepared. */
export async function prepareStoredModels(
  dataDirectory: string,
  stored: readonly StoredModel[],
): Promise<readonly StoredModel[]> {
  const prepared: StoredModel[] = [];
  for (const model of stored) prepared.push(await prepare(model, modelsDirectoryOf(dataDirectory)));
  return prepared;
}

/** Prepares the models with these names, and those in folders with these names. */
export async function prepareNamed(dataDirectory: string, names: readonly string[]): Promise<void> {
  const { models } = await listStoredModels(dataDirectory);
  const isNamed = (name: string): boolean => names.some((each) => name === each || name.startsWith(`${each}/`));
  await prepareStoredModels(
    dataDirectory,
    models.filter(({ name }) => isNamed(name)),
  );
}

async function prepare(model: StoredModel, directory: string): Promise<StoredModel> {
  if (model.format !== "piper" || model.problem !== undefined) return model;
  const problem = await preparePiperVoice(model.path);
  const described = await describePiperVoice(model.path, directory);
  return problem === undefined ? described : { ...described, problem };
}
