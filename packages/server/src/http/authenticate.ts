/**
 * Authenticates a request: from the API key in its headers to a Scope.
 * https://www.rfc-editor.org/rfc/rfc6750#section-2.1
 */
import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../errors.ts";
import { Scope, type CheckedKey, type ScopeClaim } from "../tenant.ts";
import type { FailedKeys } from "./failed-keys.ts";

/**
 * Looks up the key for a secret: an API key, or the token of a person or machine, whose organization may depend on what the request
 * names. Synchronous when it is cached.
 */
export type KeyCheck = (secret: string, claim: ScopeClaim) => CheckedKey | Promise<CheckedKey>;

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
  const secret = secretOf(headers);
  const claim = claimOf(headers);
  const count = (error: unknown): never => {
    if (error instanceof AppError && error.code === "invalid_api_key") from.failedKeys.count(from.address);
    throw error;
  };
  let key: CheckedKey | Promise<CheckedKey>;
  try {
    key = check(secret, claim);
  } catch (error) {
    return count(error);
  }
  if (!(key instanceof Promise)) return Scope.fromKey(key, claim);
  return key.catch(count).then((checked) => Scope.fromKey(checked, claim));
}

/** The account and the project that a request names. */
export function claimOf(headers: IncomingHttpHeaders): ScopeClaim {
  return { account: single(headers, "x-account"), project: single(headers, "x-project") };
}

function secretOf(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization === undefined) {
    // Azure OpenAI's clients send their key in `api-key`, Anthropic's in `x-api-key`.
    const secret = single(headers, "api-key") ?? single(headers, "x-api-key");
    if (secret === undefined) throw refused("The request has no API key; send it");
    return secret;
  }
  const { credentials, scheme } = /^(?<scheme>Bearer|Basic) +(?<credentials>\S+) *$/i.exec(authorization)?.groups ?? {};
  if (credentials === undefined)
    throw refused("The Authorization header does not have the expected form; send the key");
  return scheme?.toLowerCase() === "basic" ? passwordOf(credentials) : credentials;
}

/** The password of HTTP Basic authentication. https://www.rfc-editor.org/rfc/rfc7617#section-2 */
function passwordOf(credentials: string): string {
  const bytes = Buffer.from(credentials, "base64");
  const isBase64 = bytes.toString("base64") === credentials;
  if (!isBase64 || !isUtf8(bytes)) throw refused("The Basic credentials are not base64 of UTF-8 text; send the key");
  const text = bytes.toString("utf8");
  // A password may contain colons, a user name may not.
  const password = text.includes(":") ? text.slice(text.indexOf(":") + 1) : "";
  if (password === "") throw refused("The Basic credentials have no password; send the key");
  return password;
}

function refused(problem: string): AppError {
  const allowed = '"Authorization: Bearer <API key>", or as the password of HTTP Basic authentication';
  return new AppError("invalid_api_key", `${problem} as ${allowed}.`);
}

function single(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  if (Array.isArray(value))
    throw new AppError("invalid_request", `The header ${name} was sent more than once.`, { param: name });
  return value === "" ? undefined : value;
}
