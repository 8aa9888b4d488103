/** Errors as SCIM has them (RFC 7644, section 3.12). */
import { scimType } from "../api/scim.ts";
import { AppError } from "../errors.ts";
import type { ErrorWriter, RouteOptions } from "../http/route.ts";

type ScimErrorType = "invalidFilter" | "uniqueness" | "invalidPath" | "noTarget" | "invalidValue" | "mutability";
const types: ReadonlySet<string> = new Set([
  "invalidFilter",
  "uniqueness",
  "invalidPath",
  "noTarget",
  "invalidValue",
  "mutability",
]);
export const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";

export function scimError(type: ScimErrorType, message: string, param?: string): AppError {
  return new AppError(type === "uniqueness" ? "conflict" : "invalid_request", message, { param, wireCode: type });
}

function typeOf({ code, wireCode }: AppError): string | undefined {
  if (wireCode !== null && types.has(wireCode)) return wireCode;
  if (code === "invalid_json") return "invalidSyntax";
  return code === "invalid_request" ? "invalidValue" : undefined;
}

const writeError: ErrorWriter = (error) => {
  const body = {
    schemas: [errorSchema],
    status: String(error.status),
    scimType: typeOf(error),
    detail: error.message,
  };
  return { bytes: Buffer.from(JSON.stringify(body)), type: scimType };
};
export const errorForm: RouteOptions = { writeError, errorsUnder: "/scim" };
