/** The query languages that the editor knows. */
import type { EditorLanguage } from "./editor-language.ts";

export const promqlLanguage: EditorLanguage = {
  title: "PromQL",
  load: async (context) => (await import("./promql-language.ts")).createPromqlLanguage(context),
};
