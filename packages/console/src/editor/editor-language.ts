/** Defines a query language of the editor. It is loaded when an editor for it opens. */
import type { Extension } from "@codemirror/state";

/** What an editor's completion may ask the server for. */
export interface LanguageContext {
  /** Header values that select the project, as for the queries themselves. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** The time range whose names and values are offered. */
  readonly moments: () => { readonly startMs: number; readonly endMs: number };
}

export interface LoadedLanguage {
  /** The grammar, completion and checks. */
  readonly extension: Extension;
  /** Ends requests of the completion. */
  close(): void;
}

export interface EditorLanguage {
  readonly title: string;
  readonly load: (context: LanguageContext) => Promise<LoadedLanguage>;
}
