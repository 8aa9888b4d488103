/** Defines the messages between the server and a model's process over Node's IPC channel, typed arrays included. */

/** How to load a model. */
export interface LoadSettings {
  readonly task: "speech" | "segments" | "streams";
  /** The library's own configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The kind of model whose language is set for each piece of work. */
  readonly languageSetting?: "whisper";
  /** Appended to each segment, so that the model sees its last words completely, and may say more words than it would. */
  readonly silenceSeconds?: number;
  /** The chunk length of a streaming model. */
  readonly chunkSeconds?: number;
  /** Set if speakers are identified. */
  readonly speakers?: SpeakerSettings;
}

/** The library's own configurations. */
export interface SpeakerSettings {
  readonly diarization: Readonly<Record<string, unknown>>;
  readonly embedding: Readonly<Record<string, unknown>>;
}

/** One phrase. */
export interface PhraseWork {
  readonly type: "speak";
  readonly text: string;
  readonly speaker: number;
  readonly speed: number;
}

/** One segment of speech, 16,000 Hz. */
export interface SegmentWork {
  readonly type: "transcribe";
  readonly samples: Float32Array;
  /** ISO 639-1; undefined: the model's own choice. */
  readonly language: string | undefined;
}

/** The next samples of a stream, 16,000 Hz; the first ones open the stream. */
export interface StreamWork {
  readonly type: "listen";
  readonly stream: number;
  readonly samples: Float32Array;
  /** Nothing follows. */
  readonly last: boolean;
  /** Silence after words that ends an utterance. */
  readonly silenceMs: number;
}

/** Diarizes one segment of speech, 16,000 Hz. */
export interface DiarizationWork {
  readonly type: "diarize";
  readonly samples: Float32Array;
}

export type Work = PhraseWork | SegmentWork | StreamWork | DiarizationWork;

export interface SpokenPhrase {
  /** Empty if there was nothing to speak. */
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
  /** LUFS; −Infinity for silence. */
  readonly loudness: number;
}

/** A recognition result; times in seconds from its beginning. */
export interface Recognition {
  readonly text: string;
  readonly tokens: readonly string[];
  /** One for each token, or none at all. */
  readonly startTimes: readonly number[];
  readonly durations: readonly number[];
  /** Natural logarithms, one for each token, or none at all. */
  readonly logProbabilities: readonly (number | null)[];
  /** The model's own name; empty if it detects none. */
  readonly language: string;
  /** Sentences or parts of sentences, in order, from a model that divides its text. */
  readonly parts: readonly RecognizedPart[];
}

export interface RecognizedPart {
  readonly text: string;
  readonly start: number;
  /** Undefined if the model ended before it reported it. */
  readonly end: number | undefined;
}

/** The recognition result of a stream since its last utterance ended. */
export interface StreamRecognition {
  readonly utterance: Utterance;
  /** Whether the utterance has ended and the next one begins. */
  readonly ended: boolean;
}

export interface Utterance extends Recognition {
  /** Of its times, seconds from the beginning of the stream. */
  readonly origin: number;
}

export interface SpeakerTurns {
  /** In seconds from the beginning of the segment; they may overlap. */
  readonly turns: readonly { readonly start: number; readonly end: number; readonly voice: number }[];
  /** One per voice; undefined for a voice that spoke too briefly. */
  readonly embeddings: readonly (Float32Array | undefined)[];
}

export interface WorkResults {
  readonly diarize: SpeakerTurns;
  readonly speak: SpokenPhrase;
  readonly transcribe: Recognition;
  readonly listen: StreamRecognition;
}
export type ResultOf<W extends Work> = WorkResults[W["type"]];

export type ToModel =
  | { readonly type: "load"; readonly settings: LoadSettings }
  | { readonly type: "work"; readonly job: number; readonly work: Work }
  /** The stream is no longer needed. */
  | { readonly type: "forget"; readonly stream: number };

export type FromModel =
  | { readonly type: "ready"; readonly loadMs: number }
  /** The model cannot be loaded. */
  | { readonly type: "unusable"; readonly message: string }
  | { readonly type: "done"; readonly job: number; readonly result: WorkResults[Work["type"]] }
  | { readonly type: "failed"; readonly job: number; readonly message: string };
