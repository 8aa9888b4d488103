/** What creating or following a response gives its route. */
import type { WireAnswer } from "../chat/wire-answer.ts";
import type { WireEvent } from "../engines/wire.ts";
import type { AppError } from "../errors.ts";
import type { ResponseHeaders } from "../http/route.ts";

export type CreatedResponse = WireAnswer & {
  readonly headers: ResponseHeaders;
  readonly errorEvent: (error: AppError, sequence: number) => WireEvent;
};
