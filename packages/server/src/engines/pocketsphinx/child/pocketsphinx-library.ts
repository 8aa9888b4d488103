/**
 * Binds PocketSphinx's C functions with koffi. Releases before 5 (Debian's 0.8+5prealpha) take their settings by
 * `cmd_ln_parse_r` of libsphinxbase, later ones by `ps_config_parse_json`; the rest is the same.
 * https://cmusphinx.github.io/doc/pocketsphinx/
 */
import koffi from "koffi";
import type { Installation } from "../installation.ts";
import { coefficients } from "./mel-cepstrum.ts";

/** A pointer to something of the library's. */
export type Native = unknown;

export interface PocketSphinx {
  /** A new decoder with these settings. Throws an Error when they cannot be used. */
  createDecoder(settings: Readonly<Record<string, string | number | boolean>>): Native;
  /**
   * Resets the running mean. The library computes one for frames that arrive in parts, regardless of its settings; call
   * this before each part.
   */
  forgetMean(decoder: Native): void;
  startUtterance(decoder: Native): number;
  /** `rows` holds the addresses of the frames' cepstra, which are written over. */
  processCepstra(
    decoder: Native,
    rows: BigUint64Array,
    frames: number,
    noSearch: number,
    fullUtterance: number,
  ): number;
  endUtterance(decoder: Native): number;
  /** The segments of the best hypothesis; each call frees the one before. */
  firstSegment(decoder: Native): Native;
  nextSegment(segment: Native): Native;
  segmentWord(segment: Native): string | null;
  segmentFrames(segment: Native, start: [number], end: [number]): void;
  segmentPosterior(segment: Native, acoustic: null, language: null, backOff: null): number;
  logarithms(decoder: Native): Native;
  exponential(logarithms: Native, value: number): number;
}

/** @throws Error when the library cannot be loaded or is another */
export function openPocketSphinx({ library, baseLibrary }: Installation): PocketSphinx {
  // Bound first, so that its functions are found wherever the loader would look.
  const base = baseLibrary === undefined ? undefined : koffi.load(baseLibrary);
  const main = koffi.load(library);
  const shared = base ?? main;
  const isModern = has(() => main.func("void *ps_config_init(void *defaults)"));
  return {
    createDecoder: isModern ? modernConstructor(main) : formerConstructor(main, shared),
    forgetMean: isModern ? modernMeanForgetter(main) : formerMeanForgetter(main, shared),
    startUtterance: main.func("int ps_start_utt(void *decoder)"),
    processCepstra: main.func("int ps_process_cep(void *decoder, void *rows, int frames, int no_search, int full)"),
    endUtterance: main.func("int ps_end_utt(void *decoder)"),
    firstSegment: main.func("void *ps_seg_iter(void *decoder)"),
    nextSegment: main.func("void *ps_seg_next(void *segment)"),
    segmentWord: main.func("const char *ps_seg_word(void *segment)"),
    segmentFrames: main.func("void ps_seg_frames(void *segment, _Out_ int *start, _Out_ int *end)"),
    segmentPosterior: main.func("int ps_seg_prob(void *segment, void *acoustic, void *language, void *back_off)"),
    logarithms: main.func("void *ps_get_logmath(void *decoder)"),
    exponential: shared.func("double logmath_exp(void *logarithms, int value)"),
  };
}

type Library = ReturnType<typeof koffi.load>;

function has(find: () => unknown): boolean {
  try {
    find();
    return true;
  } catch {
    return false;
  }
}

function modernConstructor(main: Library): PocketSphinx["createDecoder"] {
  const parse = main.func("void *ps_config_parse_json(void *config, const char *json)");
  const create = main.func("void *ps_init(void *config)");
  const free = main.func("int ps_config_free(void *config)");
  return (settings) => {
    const config: Native = parse(null, JSON.stringify({ ...settings, loglevel: "FATAL" }));
    if (config === null) throw new Error("PocketSphinx rejected its settings.");
    const decoder: Native = create(config);
    free(config);
    if (decoder === null) throw new Error("PocketSphinx could not load its model.");
    return decoder;
  };
}

function formerConstructor(main: Library, base: Library): PocketSphinx["createDecoder"] {
  const definitions = main.func("void *ps_args()");
  const parse = base.func("void *cmd_ln_parse_r(void *config, void *args, int count, const char **values, int strict)");
  const create = main.func("void *ps_init(void *config)");
  const free = base.func("int cmd_ln_free_r(void *config)");
  const silence = base.func("void err_set_logfp(void *file)");
  return (settings) => {
    silence(null);
    const values = Object.entries(settings).flatMap(([name, value]) => [`-${name}`, toArgument(value)]);
    const config: Native = parse(null, definitions(), values.length + 1, ["sounding", ...values], 1);
    if (config === null) throw new Error("PocketSphinx rejected its settings.");
    const decoder: Native = create(config);
    free(config);
    if (decoder === null) throw new Error("PocketSphinx could not load its model.");
    return decoder;
  };
}

function modernMeanForgetter(main: Library): PocketSphinx["forgetMean"] {
  const setMean = main.func("int ps_set_cmn(void *decoder, const char *values)");
  const zeros = Array.from({ length: coefficients }, () => "0").join(",");
  return (decoder) => void setMean(decoder, zeros);
}

/** The beginning of the structure `feat_t` of sphinxbase's public header `feat.h`. */
const featureStructure = koffi.struct({
  refcount: "int",
  name: "void *",
  cepsize: "int32",
  n_stream: "int32",
  stream_len: "void *",
  window_size: "int32",
  n_sv: "int32",
  sv_len: "void *",
  subvecs: "void *",
  sv_buf: "void *",
  sv_dim: "int32",
  cmn: "int",
  varnorm: "int32",
  agc: "int",
  compute_feat: "void *",
  cmn_struct: "void *",
});

function formerMeanForgetter(main: Library, base: Library): PocketSphinx["forgetMean"] {
  const features = main.func("void *ps_get_feat(void *decoder)");
  const setMean = base.func("void cmn_live_set(void *mean, const float *values)");
  return (decoder) => {
    const { cmn_struct: mean } = koffi.decode(features(decoder), featureStructure) as { cmn_struct: Native };
    setMean(mean, new Float32Array(coefficients));
  };
}

function toArgument(value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}
