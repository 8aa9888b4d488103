/** PromQL in the editor: Prometheus' own grammar, completion and checks, with names and values from the server. */
import { PromQLExtension } from "@prometheus-io/codemirror-promql";
import type { LanguageContext, LoadedLanguage } from "./editor-language.ts";
import { createCompletionClient } from "./promql-completion.ts";

export function createPromqlLanguage(context: LanguageContext): LoadedLanguage {
  const remote = createCompletionClient(context);
  const promql = new PromQLExtension().setComplete({ remote });
  return { extension: promql.asExtension(), close: () => remote.destroy() };
}
