/**
 * Renders docs/reference/limits.md: all limits on input, from settings, from declared fixed limits and from request
 * schemas.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { operations } from "../packages/server/src/api/index.ts";
import type { SettingSchema } from "../packages/server/src/config/setting-schema.ts";
import { settingRows } from "../packages/server/src/config/config-document.ts";
import { errorTable } from "../packages/server/src/errors.ts";
import { declaredLimits, limitAreas, type FixedLimit, type LimitOutcome } from "../packages/server/src/input-limits.ts";
import { declaredLimits as languageLimits } from "../packages/promql/src/input-limit.ts";
import { fieldLimits } from "./field-limits.ts";

const packages = fileURLToPath(new URL("../packages", import.meta.url));

const introduction = `# Limits reference

<!-- Written by scripts/render-limits.ts; do not edit. -->

Every limit that Sounding sets on what callers send. A limit with a setting can be changed in \`sounding.yaml\`
([configuration reference](configuration/README.md)); a fixed limit cannot. The error column shows the HTTP status and the code of
[errors](errors.md) for input beyond the limit. [Limits](../administer/limits.md) explains rate limits and budgets.

This page is generated from the code: fixed limits from \`inputLimit(…)\` where they are enforced, settings from their schemas,
fields from the schemas of the operations. \`npm run generate\` writes it.
`;

/** Imports all modules that declare limits, in the order of their names. */
async function loadDeclarations(): Promise<readonly FixedLimit[]> {
  const files = globSync("{server,promql,logql,traceql}/src/**/*.ts", { cwd: packages });
  for (const file of files.filter((each) => !each.endsWith(".test.ts")).toSorted()) {
    const path = join(packages, file);
    if (!/\/input-limits?\.ts$/.test(file) && /\binputLimit\(\{/.test(readFileSync(path, "utf8"))) {
      await import(pathToFileURL(path).href);
    }
  }
  return [...languageLimits(), ...declaredLimits()];
}

function outcome(error: LimitOutcome): string {
  if (typeof error !== "string") return error.instead;
  const { status, code, type } = errorTable[error];
  return `${status} \`${code ?? type}\``;
}

function amount(value: number, unit: FixedLimit["unit"]): string {
  const number = value.toLocaleString("en-US").replaceAll(",", "\u202f");
  return unit === undefined ? number : `${number} ${unit}`;
}

/** The unit of a setting, derived from the end of its name. */
function unitOf(path: string): FixedLimit["unit"] {
  if (path.endsWith("_bytes")) return "bytes";
  if (path.endsWith("_ms")) return "ms";
  if (path.endsWith("_seconds")) return "seconds";
  return path.endsWith("_characters") ? "characters" : undefined;
}

/** The value of a setting that is not set. */
function defaultOf(path: string, { default: value, description = "" }: SettingSchema): string {
  if (typeof value === "number") return amount(value, unitOf(path));
  return /Absent: (?<meaning>.*)\.$/.exec(description)?.groups?.["meaning"] ?? "no limit";
}

/** The part of a setting's description that says what is limited: up to the first `;` or full stop. */
function boundsOf(description = ""): string {
  return /^(?:`[^`]*`|[^;.`]|\.(?! |$))*/.exec(description)![0].trim();
}

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(heading), row(heading.map(() => "---")), ...rows.map(row)].join("\n");
}

export async function renderLimitsDocument(): Promise<string> {
  const fixed = await loadDeclarations();
  const settings = settingRows().flatMap(({ path, schema }) =>
    schema.inputLimit === undefined ? [] : [{ path, schema, ...schema.inputLimit }],
  );
  const sections = limitAreas.flatMap((area) => {
    const configurable = settings
      .filter((setting) => setting.area === area)
      .map(({ path, schema, error }) => [
        boundsOf(schema.description),
        defaultOf(path, schema),
        `\`${path}\``,
        outcome(error),
      ]);
    const rest = fixed
      .filter((limit) => limit.area === area)
      .map(({ bounds, value, unit, error }) => [bounds, amount(value, unit), "fixed", outcome(error)]);
    const rows = [...configurable, ...rest];
    if (rows.length === 0) return [];
    return [`## ${area}\n\n${table(["what it bounds", "default", "setting", "error"], rows)}\n`];
  });
  const fields = [...Map.groupBy(fieldLimits(operations), ({ operation }) => operation)].map(
    ([operation, members]) =>
      `### ${operation}\n\n${table(
        ["field", "what it bounds", "most"],
        members.map(({ field, what, most }) => [`\`${field}\``, what, amount(most, undefined)]),
      )}\n`,
  );
  const fieldsIntroduction = `## Fields of requests

Beyond one of these the answer is ${outcome("invalid_request")}, and \`param\` names the field.
`;
  return [introduction, ...sections, fieldsIntroduction, ...fields].join("\n");
}
