/** Types the used part of the package, which has no types. */
declare module "sherpa-onnx-node" {
  interface Waveform {
    readonly samples: Float32Array;
    readonly sampleRate: number;
  }

  interface OfflineTts {
    readonly sampleRate: number;
    /** @throws Error when nothing of the text can be spoken */
    generate(request: {
      readonly text: string;
      readonly enableExternalBuffer: boolean;
      readonly generationConfig: { readonly sid: number; readonly speed: number; readonly silenceScale: number };
    }): { samples: Float32Array<ArrayBuffer>; sampleRate: number };
  }

  interface OfflineStream {
    readonly handle: unknown;
    acceptWaveform(waveform: Waveform): void;
  }

  interface OfflineRecognizer {
    createStream(): OfflineStream;
    setConfig(config: object): void;
    decode(stream: OfflineStream): void;
  }

  export interface OnlineStream {
    readonly handle: unknown;
    acceptWaveform(waveform: Waveform): void;
    inputFinished(): void;
  }

  interface OnlineRecognizer {
    readonly handle: unknown;
    createStream(): OnlineStream;
    isReady(stream: OnlineStream): boolean;
    decode(stream: OnlineStream): void;
    reset(stream: OnlineStream): void;
  }

  interface OfflineSpeakerDiarization {
    /** In seconds. */
    process(samples: Float32Array): { start: number; end: number; speaker: number }[];
  }

  interface SpeakerEmbeddingExtractor {
    createStream(): OnlineStream;
    isReady(stream: OnlineStream): boolean;
    compute(stream: OnlineStream, enableExternalBuffer: boolean): Float32Array<ArrayBuffer>;
  }

  /** CommonJS without names that Node could find. */
  const sherpaOnnx: {
    readonly OfflineTts: new (config: object) => OfflineTts;
    readonly OfflineRecognizer: new (config: object) => OfflineRecognizer;
    readonly OnlineRecognizer: new (config: object) => OnlineRecognizer;
    readonly OfflineSpeakerDiarization: new (config: object) => OfflineSpeakerDiarization;
    readonly SpeakerEmbeddingExtractor: new (config: object) => SpeakerEmbeddingExtractor;
  };
  export default sherpaOnnx;
}

declare module "sherpa-onnx-node/addon.js" {
  /** The native functions behind the classes. */
  const addon: {
    getOfflineStreamResultAsJson(stream: unknown): string;
    getOnlineStreamResultAsJson(recognizer: unknown, stream: unknown): string;
  };
  export default addon;
}
