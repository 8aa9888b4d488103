/**
 * Types the used part of WebAssembly packages that have no types. Pointers are byte offsets into the module's memory.
 * Any call may grow and replace the memory, so HEAP views are read again after every call.
 */

/** Node has it; its type declarations do not. */
declare namespace WebAssembly {
  type Module = object;
  function compile(bytes: Uint8Array): Promise<Module>;
}

interface EmscriptenModule {
  readonly HEAPF32: Float32Array;
  readonly HEAP32: Int32Array;
  readonly HEAP16: Int16Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
}

declare module "@echogarden/speex-resampler-wasm/simd" {
  interface SpeexResampler extends EmscriptenModule {
    _speex_resampler_init(
      channels: number,
      fromRate: number,
      toRate: number,
      quality: number,
      errorPointer: number,
    ): number;
    _speex_resampler_destroy(state: number): void;
    _speex_resampler_skip_zeros(state: number): number;
    _speex_resampler_get_input_latency(state: number): number;
    _speex_resampler_process_float(
      state: number,
      channel: number,
      input: number,
      inputLengthPointer: number,
      output: number,
      outputLengthPointer: number,
    ): number;
  }
  const load: () => Promise<SpeexResampler>;
  export default load;
}

declare module "@echogarden/sonic-wasm" {
  interface Sonic extends EmscriptenModule {
    _sonicCreateStream(sampleRate: number, channels: number): number;
    _sonicDestroyStream(stream: number): void;
    _sonicSetSpeed(stream: number, speed: number): void;
    /** Zero when memory ran out. */
    _sonicWriteFloatToStream(stream: number, samples: number, length: number): number;
    _sonicReadFloatFromStream(stream: number, samples: number, capacity: number): number;
    _sonicFlushStream(stream: number): number;
  }
  const load: () => Promise<Sonic>;
  export default load;
}

declare module "@echogarden/fvad-wasm" {
  interface Fvad extends EmscriptenModule {
    _fvad_new(): number;
    _fvad_free(detector: number): void;
    _fvad_set_mode(detector: number, mode: number): number;
    _fvad_set_sample_rate(detector: number, sampleRate: number): number;
    /** 1: voice, 0: none, -1: a length that is no frame. */
    _fvad_process(detector: number, samples: number, length: number): number;
  }
  const load: () => Promise<Fvad>;
  export default load;
}

declare module "@evan/opus/wasm/index.mjs" {
  export class Encoder {
    constructor(options: { channels: 1 | 2; sample_rate: number; application: "voip" | "audio" });
    /** With a value `opus_encoder_ctl` sets, without one it gets. */
    ctl(command: number, value?: number): number;
    encode(samples: Int16Array): Uint8Array;
    drop(): void;
  }
}
