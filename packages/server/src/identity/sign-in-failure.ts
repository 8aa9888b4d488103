/** Failures of the protocol with an identity provider, in words: without codes, tokens and secrets. */
import { AuthorizationResponseError, ResponseBodyError } from "oauth4webapi";
import { AppError } from "../errors.ts";
import { reasonOf } from "./provider-fetch.ts";
import { InvalidToken } from "./verify-token.ts";

/** The message for the person. */
export function signInFailure(label: string, error: unknown): AppError {
  if (error instanceof AuthorizationResponseError) {
    const isDenied = error.error === "access_denied" || error.error === "login_required";
    const what = isDenied ? "did not sign you in" : "reported an error";
    const description = error.error_description === undefined ? "" : `: ${shown(error.error_description)}`;
    return new AppError("sign_in_failed", `${label} ${what} (${shown(error.error)}${description}). Try again.`);
  }
  if (error instanceof ResponseBodyError)
    return new AppError("sign_in_failed", `${label} refused the sign-in (${shown(error.error)}). Try again.`);
  if (error instanceof InvalidToken)
    return new AppError("sign_in_failed", `The ID token of ${label} is not valid. ${error.message}`);
  return new AppError("sign_in_failed", `The answer of ${label} is not valid: ${shown(reasonOf(error))}. Try again.`);
}

/** Text of a provider, in a message. */
function shown(text: string): string {
  return text.slice(0, 300).toWellFormed();
}

/** For the log. The error itself may hold the response with its tokens. */
export function describeFailure(error: unknown): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return shown(`${error.error}: ${error.error_description ?? ""}`);
  return shown(reasonOf(error));
}
