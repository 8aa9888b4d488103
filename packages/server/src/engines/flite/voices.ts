/** Lists the voices in Flite's module. http://www.festvox.org/flite/ */
import type { Voice } from "../engine.ts";

export const voiceNames = ["slt", "rms", "awb", "kal16"] as const;
export type FliteVoiceName = (typeof voiceNames)[number];

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
