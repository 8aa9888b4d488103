/** HTTP routes of transcription and translation. */
import { createTranscription, createTranslation } from "../api/transcription.ts";
import type { FormLimits } from "../http/form.ts";
import { route, type Route, type RouteInput, type RouteResponse } from "../http/route.ts";
import type { Transcribe } from "./transcribe.ts";

export function transcriptionRoutes(transcribe: Transcribe, form: FormLimits): Route[] {
  const serve =
    (translates: boolean) =>
    async (input: RouteInput<unknown>): Promise<RouteResponse> => {
      const { clientAddress, form: received, headers, note, requestId, scope, signal } = input;
      const call = { clientAddress, form: received!, headers, note, requestId, scope, signal, translates };
      const result = await transcribe(call);
      if (result.kind === "answer") return { ...result.answer, headers: result.headers };
      return { kind: "events", events: toText(result.events), headers: result.headers };
    };
  return [route(createTranscription, serve(false), { form }), route(createTranslation, serve(true), { form })];
}

async function* toText(events: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield JSON.stringify(event);
}
