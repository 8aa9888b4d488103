/** Opens the engines that speak on this machine without a download, for tests that compare them. */
import { hasPackage } from "../../src/engines/espeak/package-backend.ts";
import { createEspeakEngine } from "../../src/engines/espeak/engine.ts";
import { createFliteEngine } from "../../src/engines/flite/engine.ts";
import type { SpeechCall, SpeechPiece } from "../../src/engines/engine.ts";
import { joinSamples } from "../../src/audio/samples.ts";
import { silentLogger } from "../../src/logger.ts";
import { espeakEngineSettings, fliteEngineSettings } from "./engine-settings.ts";
import { needs } from "../../../../test/support/needs.ts";

/** The package is optional: it is not there where npm was told to leave such packages out. */
export const withoutPackage = hasPackage() ? false : "runs only with the optional packages of npm";

const parts = { logger: silentLogger };

export function openLocalEngines() {
  const flite = createFliteEngine("flite", { ...fliteEngineSettings, workers: 2, preload: false }, parts);
  const ofPackage = createEspeakEngine("espeak", { ...espeakEngineSettings, variant: "package" }, parts);
  const ofProgram = createEspeakEngine("espeak", { ...espeakEngineSettings, variant: "program" }, parts);
  const close = async (): Promise<void> => {
    await Promise.all([flite, ofPackage, ofProgram].map((engine) => engine.close()));
  };
  const speakers = [
    { name: "Flite", model: flite.speech!("flite")!, skip: false },
    { name: "espeak-ng's package", model: ofPackage.speech!("espeak-ng")!, skip: withoutPackage },
    { name: "espeak-ng", model: ofProgram.speech!("espeak-ng")!, skip: needs("espeak-ng") },
  ];
  return { speakers, close };
}

/** A call with word boundaries. */
export function speechCall(input: string, changes: Partial<SpeechCall> = {}): SpeechCall {
  const { signal } = new AbortController();
  const usual = { voice: "slt", language: undefined, speed: 1, marks: true, instructions: undefined };
  return { input, signal, ...usual, ...changes };
}

/** The pieces as one recording. */
export function recordingOf(pieces: readonly SpeechPiece[]): Float32Array<ArrayBuffer> {
  return joinSamples(pieces.map(({ samples }) => samples));
}
