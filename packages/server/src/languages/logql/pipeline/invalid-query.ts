/** The error of a query that cannot be compiled. */
import { AppError } from "../../../errors.ts";

export function invalidQuery(message: string): AppError {
  return new AppError("invalid_request", message, { param: "query" });
}
