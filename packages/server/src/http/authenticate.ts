/**
 * Authenticates a request: from the API key in its headers to a Scope.
 * https://www.rfc-editor.org/rfc/rfc6750#section-2.1
 */
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../errors.ts";
import { Scope, type CheckedKey } from "../tenant.ts";
import type { FailedKeys } from "./failed-keys.ts";

/** Looks up a key by its secret; synchronous when the key is cached. */
export type KeyCheck = (secret: string) => CheckedKey | Promise<CheckedKey>;

/** The client's address and the failed authentications from it. */
export interface AttemptedFrom {
  readonly address: string | undefined;
  readonly failedKeys: FailedKeys;
}

/** @throws AppError invalid_api_key, rate_limited after many wrong keys, organization_mismatch, project_mismatch */
export function authenticate(
  headers: IncomingHttpHeaders,
  check: KeyCheck,
  from: AttemptedFrom,
): Scope | Promise<Scope> {
  const secret = bearer(headers);
  const claim = { account: single(headers, "x-account"), project: single(headers, "x-project") };
  const count = (error: unknown): never => {
    if (error instanceof AppError && error.code === "invalid_api_key") from.failedKeys.count(from.address);
    throw error;
  };
  let key: CheckedKey | Promise<CheckedKey>;
  try {
    key = check(secret);
  } catch (error) {
    return count(error);
  }
  if (!(key instanceof Promise)) return Scope.fromKey(key, claim);
  return key.catch(count).then((checked) => Scope.fromKey(checked, claim));
}

function bearer(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  // Azure OpenAI's clients send their key in `api-key`.
  const secret =
    authorization === undefined
      ? single(headers, "api-key")
      : /^Bearer +(?<secret>\S+) *$/i.exec(authorization)?.groups?.["secret"];
  if (secret === undefined) {
    const seen =
      authorization === undefined
        ? "The request has no API key"
        : "The Authorization header does not have the expected form";
    throw new AppError("invalid_api_key", `${seen}; send it as "Authorization: Bearer <API key>".`);
  }
  return secret;
}

function single(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  if (Array.isArray(value))
    throw new AppError("invalid_request", `The header ${name} was sent more than once.`, { param: name });
  return value === "" ? undefined : value;
}
