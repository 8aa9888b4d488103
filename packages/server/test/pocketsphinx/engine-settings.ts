/** The recognizer's default settings. */
import { Value } from "typebox/value";
import { pocketSphinxEngine, type PocketSphinxEngineSettings } from "../../src/config/engines/pocketsphinx.ts";

export const pocketSphinxSettings = Value.Default(pocketSphinxEngine, {
  type: "pocketsphinx",
}) as PocketSphinxEngineSettings;
