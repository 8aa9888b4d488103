/** The transcription request in a form that is still arriving; parsed again only if fields have arrived since. */
import { toAppError, type AppError } from "../errors.ts";
import type { FormBody } from "../http/form.ts";
import { prepareTranscription, type PreparedTranscription, type PrepareOptions } from "./prepare.ts";
import { readFields } from "./read-fields.ts";

interface Parsed {
  readonly fieldCount: number;
  readonly asksForStream: boolean;
  readonly result: { readonly prepared: PreparedTranscription } | { readonly error: AppError };
}

export class FormRequest {
  readonly #form: FormBody;
  readonly #options: PrepareOptions;
  #parsed: Parsed | undefined;

  constructor(form: FormBody, options: PrepareOptions) {
    this.#form = form;
    this.#options = options;
  }

  /** Whether the fields so far ask for a stream. @throws AppError invalid_request for a field given twice */
  get asksForStream(): boolean {
    return this.#parse().asksForStream;
  }

  /** The request, if the fields so far make a valid one. @throws AppError invalid_request for a field given twice */
  get soFar(): PreparedTranscription | undefined {
    const { result } = this.#parse();
    return "prepared" in result ? result.prepared : undefined;
  }

  /** @throws AppError invalid_request */
  prepare(): PreparedTranscription {
    const { result } = this.#parse();
    if ("error" in result) throw result.error;
    return result.prepared;
  }

  #parse(): Parsed {
    const { fields } = this.#form;
    if (this.#parsed?.fieldCount === fields.length) return this.#parsed;
    const values = readFields(fields);
    const asksForStream = typeof values["model"] === "string" && values["stream"] === true;
    this.#parsed = { fieldCount: fields.length, asksForStream, result: resultOf(values, this.#options) };
    return this.#parsed;
  }
}

function resultOf(values: Readonly<Record<string, unknown>>, options: PrepareOptions): Parsed["result"] {
  try {
    return { prepared: prepareTranscription(values, options) };
  } catch (error) {
    // Fields that have not arrived yet may make it valid.
    return { error: toAppError(error) };
  }
}
