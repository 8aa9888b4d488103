/** Checks the fields that arrive after the response has started: they must not change the request. */
import { isDeepStrictEqual } from "node:util";
import { AppError } from "../errors.ts";
import { isSameLanguage, reportedLanguage, type PreparedTranscription } from "./prepare.ts";

export class LateFields {
  readonly #started: PreparedTranscription;
  /** Named late, while the model recognizes the language that it detects. */
  #language: string | undefined;

  /** @param started the request as the response started */
  constructor(started: PreparedTranscription) {
    this.#started = started;
  }

  /**
   * @param request with all its fields
   * @param name of the first field that is late
   * @throws AppError invalid_request
   */
  check(request: PreparedTranscription, name: string): void {
    const { language: started } = this.#started;
    const { language } = request;
    if (started === undefined) this.#language = language;
    if (!isDeepStrictEqual({ ...request, language: started }, this.#started)) throw tooLate(name);
    if (started !== undefined && language !== started) throw tooLate("language");
  }

  /**
   * A language that is named late must be the one that is recognized.
   * @param found as far as the model has reported it
   * @throws AppError invalid_request
   */
  checkLanguage(found: string | undefined): void {
    if (this.#language === undefined) return;
    if (!isSameLanguage(this.#language, reportedLanguage(undefined, found))) throw tooLate("language");
  }
}

function tooLate(name: string): AppError {
  return new AppError(
    "invalid_request",
    `${name} arrived so late after the start of the file that the response had already started without it; send fields before the file.`,
    { param: name },
  );
}
