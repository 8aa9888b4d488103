/**
 * The file `move.json` of a data directory: its databases are being moved to others, or have been. It keeps servers and commands
 * from databases that are incomplete or no longer in use. docs/adr/0042-deletion-backup-and-move.md
 */
import { readFile } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { AppError } from "../errors.ts";

export const moveFile = "move.json";

/** What a configuration says about databases. */
export interface DatabaseSettings {
  /** Absolute. */
  readonly dataDirectory: string;
  /** Of PostgreSQL; undefined: SQLite. */
  readonly controlUrl: string | undefined;
  /** undefined: there is none, or it does not matter. */
  readonly telemetry:
    | {
        /** Of ClickHouse, or of each of its servers; undefined: the embedded store. */
        readonly url?: string | readonly string[] | undefined;
        readonly database: string;
      }
    | undefined;
}

const databaseNames = Type.Object({ control: Type.String(), telemetry: Type.Union([Type.String(), Type.Null()]) });
/** Names of databases, without credentials. Files in the data directory of the record have relative names. */
export type DatabaseNames = Static<typeof databaseNames>;

const moveRecord = Type.Object({
  state: Type.Union([Type.Literal("copying"), Type.Literal("moved")]),
  from: databaseNames,
  to: databaseNames,
});
export type MoveRecord = Static<typeof moveRecord>;

/** @param directory the data directory of the record */
export function namesOf({ controlUrl, dataDirectory, telemetry }: DatabaseSettings, directory: string): DatabaseNames {
  const file = (name: string): string => {
    const path = relative(directory, join(dataDirectory, name));
    return path.startsWith("..") || isAbsolute(path) ? join(dataDirectory, name) : path;
  };
  const store = (url: string | readonly string[] | undefined, database: string): string =>
    url === undefined
      ? file("telemetry/clickhouse")
      : [url]
          .flat()
          .map((each) => clickhouseName(each, database))
          .toSorted()
          .join(", ");
  return {
    control: controlUrl === undefined ? file("control.sqlite") : postgresName(controlUrl),
    telemetry: telemetry === undefined ? null : store(telemetry.url, telemetry.database),
  };
}

function clickhouseName(url: string, database: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/$/, "")}/${database}`;
}

/** A URL without a host, as for Unix sockets, is none for `URL`. */
function postgresName(url: string): string {
  const [address = "", search = ""] = url.replace(/\/\/[^/?#]*@/, "//").split("?");
  const host = new URLSearchParams(search).get("host");
  return host === null ? address : `${address}?host=${host}`;
}

/** Of whatever has the members of a record. @throws AppError internal if the file cannot be understood */
export async function readMoveRecord(directory: string): Promise<MoveRecord | undefined> {
  const path = join(directory, moveFile);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw new AppError("internal", `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(moveRecord, value)) return value;
  } catch {
    // The same as other content.
  }
  throw new AppError(
    "internal",
    `${path} is not a record of \`sounding move\`. Find out whether the databases were moved, and remove the file.`,
  );
}

/** @throws AppError internal if the databases are incomplete copies, or were moved to others */
export async function requireNotMoved(settings: DatabaseSettings): Promise<void> {
  const directory = settings.dataDirectory;
  const record = await readMoveRecord(directory);
  if (record === undefined) return;
  const { from, state, to } = record;
  const used = namesOf(settings, directory);
  const members = ["control", "telemetry"] as const;
  const [refused, allowed] = state === "copying" ? [to, from] : [from, to];
  const found = members.filter(
    (name) => used[name] !== null && used[name] === refused[name] && used[name] !== allowed[name],
  );
  if (found.length === 0) return;
  const path = join(directory, moveFile);
  const list = (names: DatabaseNames): string => found.map((name) => names[name]).join(" and ");
  throw new AppError(
    "internal",
    state === "copying"
      ? `\`sounding move\` has not finished copying to ${list(to)}. Run it again until it has. To give up the move, use the previous configuration and remove ${path}.`
      : `\`sounding move\` has moved ${list(from)} to ${list(to)}. Use the configuration that names the new databases. To return to the old ones, remove ${path}; what was stored since the move is only in the new ones.`,
  );
}
