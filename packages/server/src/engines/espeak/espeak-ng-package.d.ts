/** Types the used part of the npm package. https://github.com/echogarden-project/espeak-ng-emscripten */
declare module "@echogarden/espeak-ng-emscripten" {
  export interface EspeakEvent {
    readonly type: string;
    /** In code points, from 1. */
    readonly text_position: number;
    /** Milliseconds. */
    readonly audio_position: number;
    /** Of a phoneme its name, empty for a pause. */
    readonly id?: number | string;
  }

  interface EspeakWorker {
    /** 0 if the voice exists. */
    set_voice(voice: string): number;
    set_rate(wordsPerMinute: number): void;
    /** 100 is the default. */
    set_volume(amplitude: number): void;
    get_samplerate(): number;
    list_voices(): {
      readonly identifier: string;
      readonly name: string;
      readonly languages: readonly { readonly name: string }[];
    }[];
    /** Calls back until everything is spoken, or until the callback returns true. */
    synthesize(
      text: string,
      onPiece: (samples: Int16Array | null, events: readonly EspeakEvent[] | null) => boolean,
    ): void;
  }

  export default function createEspeak(options: {
    print(text: string): void;
    printErr(text: string): void;
  }): Promise<{ readonly eSpeakNGWorker: new () => EspeakWorker }>;
}
