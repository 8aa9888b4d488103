/** Settings of the recognizer as a configuration without any has them. */
import { Value } from "typebox/value";
import { pocketSphinxEngine, type PocketSphinxEngineSettings } from "../../src/config/engines/pocketsphinx.ts";

export const pocketSphinxSettings = Value.Default(pocketSphinxEngine, {
  type: "pocketsphinx",
}) as PocketSphinxEngineSettings;
