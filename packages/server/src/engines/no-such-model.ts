/** Creates the error of an engine for a model that it does not have. */
import { AppError } from "../errors.ts";

/** @param known the models that it has */
export function noSuchModel(engine: string, id: string, known: Iterable<string>): AppError {
  const names = [...known].map((each) => JSON.stringify(each)).join(", ");
  const message = `The engine ${JSON.stringify(engine)} has no model ${JSON.stringify(id)}; it has ${names}.`;
  return new AppError("model_not_found", message, { param: "model" });
}
