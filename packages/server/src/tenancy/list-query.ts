/** The query string of a list. */
import { identifierPattern } from "../api/admin.ts";
import { inputLimit } from "../input-limits.ts";
import { AppError } from "../errors.ts";
import type { PageRequest } from "./page.ts";

const defaultLimit = 20;
const maximumLimit = inputLimit({
  area: "Administration",
  bounds: "Objects in one page of a list (`limit`)",
  value: 100,
  error: "invalid_request",
});
const identifier = new RegExp(identifierPattern);

/** @throws AppError invalid_request */
export function pageRequest(query: URLSearchParams): PageRequest {
  const limit = query.get("limit") ?? String(defaultLimit);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > maximumLimit) {
    throw invalid("limit", limit, `an integer from 1 to ${maximumLimit}`);
  }
  return { limit: Number(limit), after: identifierParameter(query, "after") };
}

/** @throws AppError invalid_request */
export function identifierParameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name) ?? undefined;
  if (value !== undefined && !identifier.test(value))
    throw invalid(name, value, "an identifier from an earlier answer");
  return value;
}

/** @throws AppError invalid_request */
export function switchParameter(query: URLSearchParams, name: string): boolean {
  const value = query.get(name) ?? "false";
  if (value !== "true" && value !== "false") throw invalid(name, value, '"true" or "false"');
  return value === "true";
}

function invalid(param: string, value: string, expected: string): AppError {
  return new AppError("invalid_request", `${param} is ${JSON.stringify(value.slice(0, 100))}; expected ${expected}.`, {
    param,
  });
}
