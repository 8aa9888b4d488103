/** The parameters of a speech call, and the request that they become. */

export const speechFormats = ["wav", "mp3", "opus", "pcm"] as const;
export type SpeechFormat = (typeof speechFormats)[number];

export interface SpeechParameters {
  readonly model: string;
  readonly voice: string;
  readonly input: string;
  readonly speed: number;
  /** Undefined: the voice's own. */
  readonly sampleRate: number | undefined;
  /** Undefined: the voice's own. */
  readonly language: string | undefined;
  /** Empty: none. */
  readonly instructions: string;
  /** Whether the server reports when each word is spoken. */
  readonly wordTimes: boolean;
}

/** The body of a request for the audio alone. What has its default is left out. */
export function speechBody(parameters: SpeechParameters, format: SpeechFormat): Record<string, unknown> {
  const { model, voice, input, speed, sampleRate, language, instructions } = parameters;
  return {
    model,
    voice,
    input,
    response_format: format,
    ...(speed === 1 ? {} : { speed }),
    ...(instructions === "" ? {} : { instructions }),
    ...(sampleRate === undefined ? {} : { sample_rate: sampleRate }),
    ...(language === undefined ? {} : { speech_synthesis_language: language }),
  };
}
