/** Lists the voices in Flite's module. http://www.festvox.org/flite/ */
import type { Voice } from "../engine.ts";

export const voiceNames = ["slt", "rms", "awb", "kal16"] as const;
export type FliteVoiceName = (typeof voiceNames)[number];

/** Loudness of each voice as Flite synthesizes it, in LUFS; measured over prose. */
export const voiceLevels: Readonly<Record<FliteVoiceName, number>> = { slt: -16, rms: -21.5, awb: -20.6, kal16: -28.7 };

/** The first voice is the default one. */
export const fliteVoices: readonly (Voice & { readonly name: FliteVoiceName })[] = [
  { name: "slt", languages: ["en-US"], gender: "female", description: "American English, statistical (CMU ARCTIC)." },
  {
    name: "rms",
    languages: ["en-US"],
    gender: "male",
    description: "American English, statistical; the clearest voice.",
  },
  { name: "awb", languages: ["en-US", "en-GB"], gender: "male", description: "English with a Scottish accent." },
  {
    name: "kal16",
    languages: ["en-US"],
    gender: "male",
    description: "American English, diphone synthesis; the fastest voice.",
  },
];
