/** What a chat in another wire answers. */
import type { WireEvent } from "../engines/wire.ts";
import type { ResponseHeaders, RouteResponse } from "../http/route.ts";
import type { JsonObject } from "../json-object.ts";
import { costHeaders, pricedAnswer } from "../pricing/call-costs.ts";
import type { CallRecord } from "./call-record.ts";
import type { WireFormat } from "./wire.ts";

export type WireAnswer =
  | { readonly kind: "answer"; readonly answer: JsonObject }
  | { readonly kind: "events"; readonly events: AsyncIterable<WireEvent> };

export type ServedAnswer = WireAnswer & { readonly headers: ResponseHeaders };

/** Only for answers that are not streamed: an event with the usage is sent before the call ends, when its cost is computed. */
export function priced(answer: JsonObject, { toldCost }: CallRecord, headers: ResponseHeaders): ServedAnswer {
  return {
    kind: "answer",
    answer: pricedAnswer(answer, toldCost),
    headers: { ...headers, ...costHeaders(toldCost) },
  };
}

/** The route's response. */
export function toResponse(answer: ServedAnswer, { errorEvent }: Pick<WireFormat<never>, "errorEvent">): RouteResponse {
  const { headers } = answer;
  return answer.kind === "answer"
    ? { kind: "json", value: answer.answer, headers }
    : { kind: "named_events", events: answer.events, errorEvent, headers };
}
