/**
 * Calls Flite in WebAssembly memory: text in, samples and timed tokens out. It reads the structures of Flite 2.2:
 * https://github.com/festvox/flite/tree/master/include
 */
import { AppError } from "../../errors.ts";
import type { SpokenToken } from "../spoken-text/marks.ts";
import { voiceNames, type FliteVoiceName } from "./voices.ts";
import { webAssembly, type WasmFunction, type WasmMemory, type WasmModule } from "../../web-assembly.ts";

/** What is called of Flite, as its C code names it. */
export const fliteFunctions = [
  "__wasm_call_ctors",
  "flite_init",
  "flite_set_lang_list",
  "flite_set_voice_list",
  "flite_voice_select",
  "flite_feat_set_float",
  "new_utterance",
  "delete_utterance",
  "utt_init",
  "utt_set_input_text",
  "utt_synth",
  "utt_wave",
  "utt_relation",
  "relation_head",
  "item_next",
  "item_prev",
  "item_daughter",
  "item_as",
  "item_feat_string",
  "item_feat_float",
  "malloc",
  "free",
  "rand",
] as const;

type Flite = Record<(typeof fliteFunctions)[number], WasmFunction>;

export interface Utterance {
  /** Hertz. */
  readonly sampleRate: number;
  /** Mono, −1 to 1. */
  readonly samples: Float32Array<ArrayBuffer>;
  readonly tokens: readonly SpokenToken[];
}

export interface FliteLibrary {
  /**
   * @param text ASCII without control characters
   * @param stretch length of the speech, relative to the voice's own pace
   * @throws anything after which the library must not be used again
   */
  speak(text: string, voice: FliteVoiceName, stretch: number): Utterance;
}

/** Bytes of a 32-bit pointer or integer: the structures hold nothing else. */
const word = 4;

export function openFlite(module: WasmModule): FliteLibrary {
  const instance = new webAssembly.Instance(module, { wasi_snapshot_preview1: closedWorld(module) });
  const flite = instance.exports as unknown as Flite;
  const memory = new Memory(instance.exports["memory"] as WasmMemory, flite);
  flite.__wasm_call_ctors();
  const seed = findSeed(flite, memory);
  flite.flite_init();
  flite.flite_set_lang_list();
  flite.flite_set_voice_list(0);
  const voices = new Map(voiceNames.map((name) => [name, flite.flite_voice_select(memory.keep(name))]));
  const stretchName = memory.keep("duration_stretch");

  return {
    speak(text, voiceName, stretch) {
      const voice = voices.get(voiceName)!;
      flite.flite_feat_set_float(memory.integer(voice + word), stretchName, stretch);
      // The noise in a voice is random: with the same seed the same text always sounds the same.
      memory.setLong(seed, 0n);
      const input = memory.write(text);
      const utterance = flite.new_utterance();
      flite.utt_init(utterance, voice);
      flite.utt_set_input_text(utterance, input);
      if (flite.utt_synth(utterance) === 0) throw new AppError("upstream_failed", "Flite failed to speak this text.");
      const wave = flite.utt_wave(utterance);
      const result = {
        sampleRate: memory.integer(wave + word),
        samples: memory.samples(memory.integer(wave + 4 * word), memory.integer(wave + 2 * word)),
        tokens: readTokens(flite, memory, utterance),
      };
      flite.delete_utterance(utterance);
      flite.free(input);
      return result;
    },
  };
}

/** What musl's `rand` holds after its second call: https://git.musl-libc.org/cgit/musl/tree/src/prng/rand.c */
const secondSeed = 6364136223846793006n;

/** The address of `rand`'s seed. Must be called before anything has called `rand`. */
function findSeed(flite: Flite, memory: Memory): number {
  flite.rand();
  flite.rand();
  return memory.find(secondSeed);
}

/** The program finds no files, arguments or time; if it exits, its caller fails. */
function closedWorld(module: WasmModule): Record<string, WasmFunction> {
  const badFile = 8;
  const names = webAssembly.Module.imports(module).map(({ name }) => name);
  return Object.fromEntries(
    names.map((name) => [
      name,
      (...operands: number[]): number => {
        if (name !== "proc_exit") return badFile;
        throw new AppError("upstream_failed", `Flite exited with code ${operands[0]}.`);
      },
    ]),
  );
}

/** The library's memory; it may grow, and then move, with every call. */
class Memory {
  readonly #memory: WasmMemory;
  readonly #flite: Flite;
  readonly #kept = new Map<string, number>();

  constructor(memory: WasmMemory, flite: Flite) {
    this.#memory = memory;
    this.#flite = flite;
  }

  /** A C string that lives as long as the library. */
  keep(text: string): number {
    let pointer = this.#kept.get(text);
    if (pointer === undefined) {
      pointer = this.write(text);
      this.#kept.set(text, pointer);
    }
    return pointer;
  }

  /** A C string that the caller frees. */
  write(text: string): number {
    const pointer = this.#flite.malloc(text.length + 1);
    const bytes = Buffer.from(this.#memory.buffer, pointer, text.length + 1);
    bytes.write(text, "latin1");
    bytes[text.length] = 0;
    return pointer;
  }

  read(pointer: number): string {
    const bytes = Buffer.from(this.#memory.buffer);
    return bytes.toString("latin1", pointer, bytes.indexOf(0, pointer));
  }

  integer(pointer: number): number {
    return new DataView(this.#memory.buffer).getInt32(pointer, true);
  }

  setLong(pointer: number, value: bigint): void {
    new DataView(this.#memory.buffer).setBigUint64(pointer, value, true);
  }

  /** @throws AppError internal when the value is nowhere */
  find(value: bigint): number {
    const sought = Buffer.alloc(8);
    sought.writeBigUInt64LE(value);
    const pointer = Buffer.from(this.#memory.buffer).indexOf(sought);
    if (pointer === -1) throw new AppError("internal", "Flite's memory layout is not as expected.");
    return pointer;
  }

  samples(pointer: number, count: number): Float32Array<ArrayBuffer> {
    return Float32Array.from(new Int16Array(this.#memory.buffer, pointer, count), (sample) => sample / 32_768);
  }
}

function readTokens(flite: Flite, memory: Memory, utterance: number): SpokenToken[] {
  const [name, end] = [memory.keep("name"), memory.keep("end")];
  const [structure, segments] = [memory.keep("SylStructure"), memory.keep("Segment")];
  const siblings = function* (first: number): Generator<number, void, undefined> {
    for (let item = first; item !== 0; item = flite.item_next(item)) yield item;
  };
  return [...siblings(flite.relation_head(flite.utt_relation(utterance, memory.keep("Token"))))].map((token) => {
    let spokenFrom: number | undefined;
    let spokenTo: number | undefined;
    for (const each of siblings(flite.item_daughter(token))) {
      for (const syllable of siblings(flite.item_daughter(flite.item_as(each, structure)))) {
        for (const sound of siblings(flite.item_daughter(syllable))) {
          const segment = flite.item_as(sound, segments);
          const before = flite.item_prev(segment);
          spokenFrom ??= before === 0 ? 0 : flite.item_feat_float(before, end);
          spokenTo = flite.item_feat_float(segment, end);
        }
      }
    }
    return { text: memory.read(flite.item_feat_string(token, name)), start: spokenFrom, end: spokenTo };
  });
}
