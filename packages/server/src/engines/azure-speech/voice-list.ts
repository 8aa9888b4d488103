/**
 * Fetches and caches the list of the resource's voices.
 * https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech#get-a-list-of-voices
 */
import { requestJson } from "../upstream-http/request-json.ts";
import type { ConnectionPool } from "../upstream-http/connection-pool.ts";
import { isObject, nonEmptyText, type JsonObject } from "../../json-object.ts";
import { invalidResponse } from "../upstream-http/invalid-response.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import type { Voice } from "../engine.ts";

export interface VoiceListOptions {
  readonly pool: ConnectionPool;
  readonly path: string;
  readonly headers: readonly string[];
  readonly limits: TimeLimits;
  readonly maxAnswerBytes: number;
  readonly defaultVoice: string;
}

const keptMs = 600_000;
/** How long an expired list is used before the next attempt to fetch it. */
const pauseMs = 30_000;

export class VoiceList {
  readonly #options: VoiceListOptions;
  #voices: readonly Voice[] | undefined;
  #askAgainAtMs = -Infinity;

  constructor(options: VoiceListOptions) {
    this.#options = options;
  }

  /** Returns an expired list if no new one can be fetched. @throws AppError as a call does */
  async get(signal: AbortSignal): Promise<readonly Voice[]> {
    if (this.#voices !== undefined && performance.now() < this.#askAgainAtMs) return this.#voices;
    try {
      const { pool, path, headers, limits, maxAnswerBytes, defaultVoice } = this.#options;
      const request = { method: "GET", path, headers, limits, signal, isStream: false } as const;
      this.#voices = sorted(readVoices(await requestJson(pool, request, maxAnswerBytes)), defaultVoice);
      this.#askAgainAtMs = performance.now() + keptMs;
    } catch (error) {
      if (this.#voices === undefined || signal.aborted) throw error;
      this.#askAgainAtMs = performance.now() + pauseMs;
    }
    return this.#voices;
  }
}

function readVoices(answer: unknown): Voice[] {
  if (!Array.isArray(answer)) throw invalidResponse("it is not a list of voices");
  return answer.flatMap((entry: unknown) => {
    const voice = isObject(entry) && entry["Status"] !== "Deprecated" ? readVoice(entry) : undefined;
    return voice === undefined ? [] : [voice];
  });
}

function readVoice(entry: JsonObject): Voice | undefined {
  const name = nonEmptyText(entry["ShortName"]);
  const language = nonEmptyText(entry["Locale"]);
  if (name === undefined || language === undefined) return undefined;
  const secondary = entry["SecondaryLocaleList"];
  const others = Array.isArray(secondary) ? secondary.filter((each) => typeof each === "string") : [];
  const gender = String(entry["Gender"]).toLowerCase();
  return {
    name,
    languages: [...new Set([language, ...others])],
    gender: gender === "female" || gender === "male" || gender === "neutral" ? gender : undefined,
    description: nonEmptyText(entry["DisplayName"]),
  };
}

/** The default voice first, then those of its language, because the first match replaces well-known names. */
function sorted(voices: readonly Voice[], defaultVoice: string): Voice[] {
  const first = voices.find(({ name }) => name === defaultVoice);
  const rank = (voice: Voice): number => {
    if (voice === first) return 0;
    return voice.languages[0] === first?.languages[0] ? 1 : 2;
  };
  return voices.toSorted((one, other) => rank(one) - rank(other));
}
