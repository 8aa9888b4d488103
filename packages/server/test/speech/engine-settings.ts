/** The speech engines' default settings. */
import { Value } from "typebox/value";
import { espeakEngine, type EspeakEngineSettings } from "../../src/config/engines/espeak.ts";
import { fliteEngine, type FliteEngineSettings } from "../../src/config/engines/flite.ts";

export const fliteEngineSettings = Value.Default(fliteEngine, { type: "flite" }) as FliteEngineSettings;
export const espeakEngineSettings = Value.Default(espeakEngine, { type: "espeak" }) as EspeakEngineSettings;
