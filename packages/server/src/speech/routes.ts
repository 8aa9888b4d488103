/** HTTP routes of speech synthesis. */
import { createSpeech, listVoices } from "../api/speech.ts";
import { route, type Route, type RouteResponse } from "../http/route.ts";
import type { Speak } from "./speak.ts";
import { toBytes, toEvents, toLines } from "./stream-forms.ts";
import type { ListVoices } from "./list-voices.ts";

export function speechRoutes(speak: Speak, voices: ListVoices): Route[] {
  return [
    route(createSpeech, async (input): Promise<RouteResponse> => {
      const answer = await speak(input);
      const { headers } = answer;
      switch (answer.kind) {
        case "audio":
          return { kind: "bytes", bytes: answer.audio, type: answer.type, headers };
        case "boundaries":
          return { kind: "json", value: answer.answer, headers };
        case "stream":
          break;
      }
      const { items, type, form } = answer;
      if (form === "lines") return { kind: "lines", lines: toLines(items), headers };
      if (form === "events") return { kind: "events", events: toEvents(items, answer), done: false, headers };
      return { kind: "stream", bytes: toBytes(items), type, headers };
    }),
    route(listVoices, async ({ query, scope, signal }) => {
      const filter = { model: query.get("model") ?? undefined, language: query.get("language") ?? undefined };
      return { kind: "json", value: await voices(scope, filter, signal) };
    }),
  ];
}
