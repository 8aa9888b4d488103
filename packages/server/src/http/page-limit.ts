/** Reads from a query how many items of a list a page should have at most. */
import { AppError } from "../errors.ts";

/** @returns undefined if the query does not say @throws AppError invalid_request */
export function readPageLimit(query: URLSearchParams, largest: number): number | undefined {
  const text = query.get("limit");
  if (text === null) return undefined;
  const isShort = text.length <= String(largest).length;
  if (isShort && /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= largest) return Number(text);
  const message = `limit is ${JSON.stringify(text)}; expected a whole number from 1 to ${largest}.`;
  throw new AppError("invalid_request", message, { param: "limit" });
}
