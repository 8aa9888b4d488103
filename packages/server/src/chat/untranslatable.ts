/** What becomes of the parts of a request that chat completions cannot express. */
import { AppError } from "../errors.ts";

/** Called for such a part. Returns if it may be left out. */
export type Refuse = (param: string, problem: string) => void;

/** For requests that a model gets: nothing is dropped silently. */
export const refuse: Refuse = (param, problem) => {
  const reason = "The request is translated to chat completions, which cannot express this.";
  throw new AppError("unsupported_parameter", `${param} ${problem}. ${reason}`, { param });
};

/** For descriptions, which telemetry records. */
export const leaveOut: Refuse = () => {};

export function invalid(param: string, problem: string): AppError {
  return new AppError("invalid_request", `${param} ${problem}`, { param });
}
