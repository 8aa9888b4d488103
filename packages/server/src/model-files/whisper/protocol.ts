/** The messages between the server and the process that converts a model. */

/** The files of a model in CTranslate2's format, in its folder. */
export interface ToConverter {
  readonly type: "convert";
  readonly folder: string;
  /** The name of the vocabulary's file. */
  readonly vocabulary: string;
  /** Names of the new files, in the same folder. */
  readonly encoder: string;
  readonly decoder: string;
  readonly tokens: string;
}

export type FromConverter =
  | { readonly type: "progress"; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: "done" }
  /** The model cannot be converted; the message is the end of a sentence about it. */
  | { readonly type: "unusable"; readonly message: string }
  | { readonly type: "failed"; readonly message: string };
