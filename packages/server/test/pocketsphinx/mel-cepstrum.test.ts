/** The front end compared with the library's own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import koffi from "koffi";
import { findInstallation } from "../../src/engines/pocketsphinx/installation.ts";
import { coefficients, createMelCepstrum } from "../../src/engines/pocketsphinx/child/mel-cepstrum.ts";
import { toInt16 } from "../../src/audio/samples.ts";
import { chirp, cut, noise } from "../audio/signals.ts";
import { needs } from "../../../../test/support/needs.ts";

/** The path of libsphinxbase, which has a public front end in releases before 5. */
function baseLibrary(): string | undefined {
  try {
    return findInstallation({ library: undefined, modelDirectory: undefined }).baseLibrary;
  } catch {
    return undefined;
  }
}

/** The values of the model's `feat.params`, with times left unchanged. */
const parameters = {
  lowerf: 130,
  upperf: 6800,
  nfilt: 25,
  transform: "dct",
  lifter: 22,
  remove_noise: "yes",
  remove_silence: "no",
};

/** The cepstra that sphinxbase computes. https://github.com/cmusphinx/sphinxbase/blob/master/include/sphinxbase/fe.h */
function cepstraOfLibrary(path: string, samples: Int16Array): Float32Array {
  const library = koffi.load(path);
  library.func("void err_set_logfp(void *file)")(null);
  const values = Object.entries(parameters).flatMap(([name, value]) => [`-${name}`, String(value)]);
  const config: unknown = library.func("void *cmd_ln_parse_r(void *, void *, int, const char **, int)")(
    null,
    library.func("void *fe_get_args()")(),
    values.length + 1,
    ["test", ...values],
    1,
  );
  const frontEnd: unknown = library.func("void *fe_init_auto_r(void *config)")(config);
  library.func("int fe_start_utt(void *)")(frontEnd);
  const block = [null];
  const frames: [number] = [0];
  library.func("int fe_process_utt(void *, int16_t *, size_t, _Out_ void **, _Out_ int *)")(
    frontEnd,
    samples,
    samples.length,
    block,
    frames,
  );
  const firstRow: unknown = koffi.decode(block[0], "void *");
  return Float32Array.from(koffi.decode(firstRow, "float", frames[0] * coefficients) as number[]);
}

describe("mel cepstra", () => {
  const sound = toInt16(chirp(16_000, 2).map((sample, index) => sample * 0.3 * Math.sin(index / 2_000) ** 2));
  const grain = toInt16(noise(32_000, 0.01));
  const samples = sound.map((sample, index) => sample + grain[index]!);

  const path = baseLibrary();
  test("equal those of the library", { skip: needs("pocketsphinx") }, () => {
    const expected = cepstraOfLibrary(path!, samples);
    const ours = createMelCepstrum().push(samples);
    assert.ok(expected.length >= 190 * coefficients);
    for (const [index, value] of expected.entries()) {
      const own = ours[Math.floor(index / coefficients)]?.[index % coefficients];
      if (own !== undefined) assert.ok(Math.abs(own - value) < 0.02, `value ${index}: ${own} and ${value}`);
    }
  });

  test("are the same however the audio is split", () => {
    const whole = createMelCepstrum();
    const expected = [...whole.push(samples), ...whole.end()];
    const parts = createMelCepstrum();
    const pieces = cut(new Float32Array(samples), [1, 7, 160, 333, 4_096]).map((piece) => Int16Array.from(piece));
    const frames = [...pieces.flatMap((piece) => parts.push(piece)), ...parts.end()];
    assert.deepEqual(frames, expected);
  });
});
