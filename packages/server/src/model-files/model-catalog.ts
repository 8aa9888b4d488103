/**
 * The models that `sounding models pull` knows by a short name, from catalog.json. Sizes and checksums are those that several
 * independent projects publish for the file; a pull verifies them, and for files of the hub also the hub's checksum.
 */
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { parseModelSource } from "./model-source.ts";
import { folderOf, parsePackage } from "./package-request.ts";
import data from "./catalog.json" with { type: "json" };

const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

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
      sha256: Type.Union([sha256, Type.Null()]),
      /** Where else it is, in the order in which they are tried when the source cannot be reached. */
      mirrors: Type.Optional(
        Type.Array(
          Type.Object(
            {
              /** A package with its version. */
              source: Type.String({ pattern: "^(pypi|npm):[^@]+@.+$|^npm:@[^@]+@.+$" }),
              /** Its name in the models' directory, if that is not the package's. */
              stored_as: Type.Optional(Type.String({ minLength: 1 })),
              /** Of all archives. */
              size_bytes: Type.Integer({ minimum: 1_000_000 }),
              /** Of each archive, in the order of the parts. */
              sha256: Type.Array(sha256, { minItems: 1 }),
            },
            { additionalProperties: false },
          ),
        ),
      ),
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

/** Under which names a model may be stored in the models' directory, in the order of its sources. */
export function storedNamesOf({ source, mirrors = [] }: CatalogModel): readonly string[] {
  return [
    parseModelSource(source).name,
    ...mirrors.map((mirror) => mirror.stored_as ?? folderOf(parsePackage(mirror.source)!)),
  ];
}

/** The short name of what is stored under this name in the models' directory. */
export function shortNameOf(storedName: string): string | undefined {
  return catalogModels().find((model) => storedNamesOf(model).includes(storedName))?.name;
}

/** The model with this short name. */
export function findCatalogModel(name: string): CatalogModel | undefined {
  return catalogModels().find((model) => model.name === name.toLowerCase());
}
