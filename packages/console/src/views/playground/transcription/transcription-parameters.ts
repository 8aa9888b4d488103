/** The parameters of a transcription, and the fields of the form that they become. */

export const timestampChoices = ["word", "segment", "none"] as const;
/** Times of words and segments, of segments, or none. */
export type Timestamps = (typeof timestampChoices)[number];

export interface TranscriptionParameters {
  readonly model: string;
  /** Empty: the server's default. */
  readonly language: string;
  /** Empty: none. */
  readonly prompt: string;
  readonly timestamps: Timestamps;
}

const granularities: Readonly<Record<Timestamps, readonly string[]>> = {
  word: ["segment", "word"],
  segment: ["segment"],
  none: [],
};

/** The fields before the file. What has its default is left out. */
export function transcriptionFields(parameters: TranscriptionParameters): Record<string, string | readonly string[]> {
  const { model, language, prompt, timestamps } = parameters;
  return {
    model,
    ...(language === "" ? {} : { language }),
    ...(prompt === "" ? {} : { prompt }),
    ...(timestamps === "none"
      ? {}
      : { response_format: "verbose_json", timestamp_granularities: granularities[timestamps] }),
  };
}
