/** The manifest of a backup, `manifest.json`: what is in the folder. It is written last, so a folder without one is incomplete. */
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { AppError } from "../errors.ts";

export const formatVersion = 1;
export const manifestFile = "manifest.json";
/** In the storage until the backup is complete. */
export const incompleteMark = ".incomplete";
export const controlFile = "control.jsonl";
export const configurationFile = "configuration/sounding.yaml";

const stored = {
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
};
const organizationId = Type.String({ pattern: "^[\\w-]{1,100}$" });

const telemetryFile = Type.Object(
  {
    table: Type.String({ pattern: "^[a-z_]{1,60}$" }),
    /** null for a table that is not divided into days. */
    day: Type.Union([Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }), Type.Null()]),
    ...stored,
    /** At least these rows are in the file. */
    organizations: Type.Array(
      Type.Object(
        { id: organizationId, rows: Type.Integer({ minimum: 0 }), expires_at: Type.Integer() },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type TelemetryFile = Static<typeof telemetryFile>;

const manifest = Type.Object(
  {
    format: Type.Literal("sounding-backup"),
    format_version: Type.Literal(formatVersion),
    id: Type.String({ pattern: "^[0-9a-f-]{36}$" }),
    created_at: Type.String({ maxLength: 40 }),
    server_version: Type.String({ maxLength: 100 }),
    /** null for a whole installation. */
    organization: Type.Union([
      Type.Object({ id: organizationId, name: Type.String() }, { additionalProperties: false }),
      Type.Null(),
    ]),
    control: Type.Object(
      { ...stored, rows: Type.Integer({ minimum: 0 }), migrations: Type.Array(Type.String()) },
      { additionalProperties: false },
    ),
    /** null if telemetry was left out. */
    telemetry: Type.Union([
      Type.Object(
        {
          schema_version: Type.Integer({ minimum: 1 }),
          columns: Type.Record(Type.String(), Type.Array(Type.String({ pattern: "^[a-z_0-9]{1,60}$" }))),
          files: Type.Array(telemetryFile),
        },
        { additionalProperties: false },
      ),
      Type.Null(),
    ]),
    configuration: Type.Union([Type.Object(stored, { additionalProperties: false }), Type.Null()]),
  },
  { additionalProperties: false },
);
export type Manifest = Static<typeof manifest>;

/** The path of a file in the folder. The manifest names no paths, so none can lead out of the folder. */
export function telemetryPath({ day, table }: Pick<TelemetryFile, "table" | "day">): string {
  return `telemetry/${table}/${day ?? "all"}.native.zst`;
}

/** The content of the file. */
export function printManifest(content: Manifest): string {
  return `${JSON.stringify(content, undefined, 1)}\n`;
}

/** @throws AppError invalid_request that says what is wrong */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError("invalid_request", `${manifestFile} is not valid JSON.`, { cause });
  }
  const { format, format_version: version } = (value ?? {}) as Record<string, unknown>;
  if (format !== "sounding-backup") throw new AppError("invalid_request", `${manifestFile} is not one of a backup.`);
  if (typeof version === "number" && version > formatVersion) {
    throw new AppError(
      "invalid_request",
      `The backup has the format ${version}; this version of Sounding reads formats up to ${formatVersion}. Use a newer version.`,
    );
  }
  if (Value.Check(manifest, value)) return value;
  const [first] = Value.Errors(manifest, value);
  throw new AppError(
    "invalid_request",
    `${manifestFile} is invalid: ${first?.instancePath ?? ""} ${first?.message ?? ""}.`,
  );
}
