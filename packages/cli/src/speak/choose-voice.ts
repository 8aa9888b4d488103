/** Chooses the model and voice: those requested, otherwise the first that the server lists. */
import type { AsyncSounding } from "@sounding/client";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";

/** Supports over a hundred languages, but is harder to understand than any other engine. */
const lastResort = "espeak-ng";

interface Asked {
  readonly model: string | undefined;
  readonly voice: string | undefined;
  readonly language: string | undefined;
}

/** Throws CliError if nothing fits. */
export async function chooseVoice(
  client: AsyncSounding,
  { model, voice, language }: Asked,
  signal: AbortSignal,
): Promise<{ readonly model: string; readonly voice: string }> {
  if (model !== undefined && voice !== undefined) return { model, voice };
  const { data } = await client.audio.voices.list({ model, language }, { signal });
  // A well-known name such as `alloy` is not listed, but every model accepts it.
  const found = data.find(({ name }) => name === voice) ?? data.find(({ engine }) => engine !== lastResort) ?? data[0];
  if (found === undefined) {
    const of = model === undefined ? "the server has no voice" : `the model ${model} has no known voice`;
    const speaking = language === undefined ? "" : ` that speaks ${language}`;
    throw new CliError(`${of}${speaking}; use --model and --voice to name them`, exitCodes.notFound);
  }
  return { model: model ?? found.model, voice: voice ?? found.name };
}
