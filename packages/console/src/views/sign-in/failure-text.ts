/** What a failed sign-in says, with the time to wait. */
import { ApiError } from "../../api/request.ts";

export function failureText(error: Error): string {
  const waitMs = error instanceof ApiError && error.status === 429 ? error.retryAfterMs : undefined;
  return waitMs === undefined ? error.message : `${error.message} Try again in ${Math.ceil(waitMs / 1000)} s.`;
}
