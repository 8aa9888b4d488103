/** HTTP route of transcription. */
import { createTranscription } from "../api/transcription.ts";
import type { FormLimits } from "../http/form.ts";
import { route, type Route } from "../http/route.ts";
import type { Transcribe } from "./transcribe.ts";

export function transcriptionRoutes(transcribe: Transcribe, form: FormLimits): Route[] {
  return [
    route(
      createTranscription,
      async (input) => {
        const { clientAddress, form, headers, note, requestId, scope, signal } = input;
        const result = await transcribe({ clientAddress, form: form!, headers, note, requestId, scope, signal });
        if (result.kind === "answer") return { ...result.answer, headers: result.headers };
        return { kind: "events", events: toText(result.events), headers: result.headers };
      },
      { form },
    ),
  ];
}

async function* toText(events: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield JSON.stringify(event);
}
