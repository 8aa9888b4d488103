/**
 * The models that `sounding models pull` knows by a short name, from catalog.json. Sizes and checksums are those that several
 * independent projects publish for the file; a pull verifies them, and for files of the hub also the hub's checksum.
 */
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { parseModelSource } from "./model-source.ts";
import data from "./catalog.json" with { type: "json" };

export const catalogSchema = Type.Array(
  Type.Object(
    {
      /** The short name; also the model's ID once it is pulled. */
      name: Type.String({ pattern: "^[a-z0-9][a-z0-9.-]{1,60}$" }),
      capability: Type.Enum(["chat", "speech", "transcription"]),
      /** What it is, for a list. */
      description: Type.String({ minLength: 1, maxLength: 80 }),
      /** BCP 47, or `multilingual`. */
      languages: Type.Array(Type.String({ pattern: "^([a-z]{2,3}(-[A-Z]{2})?|multilingual)$" }), { minItems: 1 }),
      /** An SPDX identifier, or a `LicenseRef-` for licenses that SPDX does not list. */
      license: Type.String({ pattern: "^[A-Za-z0-9.-]+$" }),
      /** As `sounding models pull` takes it. */
      source: Type.String({ minLength: 1 }),
      /** Of the file or archive that is downloaded. */
      size_bytes: Type.Integer({ minimum: 1_000_000 }),
      /** Null: only the host's checksum is verified. */
      sha256: Type.Union([Type.String({ pattern: "^[0-9a-f]{64}$" }), Type.Null()]),
    },
    { additionalProperties: false },
  ),
);

export type CatalogModel = Static<typeof catalogSchema>[number];

let loaded: readonly CatalogModel[] | undefined;

/** All models: chat, speech, transcription, each by size. */
export function catalogModels(): readonly CatalogModel[] {
  loaded ??= Value.Parse(catalogSchema, data);
  return loaded;
}

/** The short name of what is stored under this name in the models' directory. */
export function shortNameOf(storedName: string): string | undefined {
  return catalogModels().find(({ source }) => parseModelSource(source).name === storedName)?.name;
}

/** The model with this short name. */
export function findCatalogModel(name: string): CatalogModel | undefined {
  return catalogModels().find((model) => model.name === name.toLowerCase());
}
