/** All functions of templates: Go's built-in ones, and those of Loki. */
import { comparisonFunctions } from "./comparison-functions.ts";
import { dateFunctions } from "./date-functions.ts";
import { expressionFunctions } from "./expression-functions.ts";
import type { TemplateFunction } from "./function.ts";
import { numberFunctions } from "./number-functions.ts";
import { printFunctions } from "./print-functions.ts";
import { textFunctions } from "./text-functions.ts";

export const templateFunctions: ReadonlyMap<string, TemplateFunction> = new Map(
  Object.entries({
    ...comparisonFunctions,
    ...printFunctions,
    ...textFunctions,
    ...numberFunctions,
    ...dateFunctions,
    ...expressionFunctions,
  }),
);
