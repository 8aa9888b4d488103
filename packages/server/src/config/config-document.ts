/** docs/config.md, written from the schemas: every setting with its variable, its default and its meaning. */
import { configSchema, isReloadable } from "./config.ts";
import { describeAllowed, entrySchema, environmentName, typedMembers, type SettingSchema } from "./setting-schema.ts";

/** One row of the reference. */
export interface SettingRow {
  readonly path: string;
  readonly schema: SettingSchema;
  readonly required: boolean;
  /** Undefined where the path has names of the user's choice in it. */
  readonly environment: string | undefined;
}

const introduction = `# Configuration reference

Every setting of \`sounding.yaml\`. [Configuration](configuration.md) tells how the file, the environment and the command line
work together; \`sounding config show\` prints what is in force, and \`sounding config check\` finds mistakes.

This page is generated from the schemas in \`packages/server/src/config/\` by \`npm run generate\`.
`;

/** Every setting; those of engines once for each type of engine. */
export function settingRows(): SettingRow[] {
  return Object.entries(configSchema.properties as Readonly<Record<string, SettingSchema>>).flatMap(
    ([name, schema]) => {
      const map = entrySchema(schema);
      const members = map === undefined ? undefined : typedMembers(map.entry);
      if (members === undefined) return rowsOf(schema, { path: name, steps: [name] });
      return [...members].flatMap(([type, member]) => rowsOf(member, { path: `${name}.<${type}>`, steps: undefined }));
    },
  );
}

/** The whole page as Markdown. */
export function renderConfigDocument(): string {
  const sections = Object.entries(configSchema.properties as Readonly<Record<string, SettingSchema>>);
  return `${[introduction, ...sections.map(([name, schema]) => renderSection(name, schema))].join("\n").trimEnd()}\n`;
}

function renderSection(name: string, schema: SettingSchema): string {
  const reload = isReloadable(name) ? " May change while the server runs." : "";
  const head = `## \`${name}\`\n\n${schema.description ?? ""}${reload}\n`;
  const map = entrySchema(schema);
  const members = map === undefined ? undefined : typedMembers(map.entry);
  if (members === undefined) return `${head}\n${renderTable(rowsOf(schema, { path: name, steps: [name] }))}`;
  const parts = [...members].map(([type, member]) => {
    const rows = rowsOf(member, { path: `${name}.<name>`, steps: undefined });
    return `### \`type: ${type}\`\n\n${member.description ?? ""}\n\n${renderTable(rows)}`;
  });
  return [head, ...parts].join("\n");
}

interface Place {
  readonly path: string;
  /** The names that the environment variable is made of. */
  readonly steps: readonly string[] | undefined;
}

function rowsOf(schema: SettingSchema, place: Place): SettingRow[] {
  const map = entrySchema(schema);
  if (map !== undefined) return below(map.entry, { path: `${place.path}.<name>`, steps: undefined });
  if (schema.items?.properties !== undefined) {
    return rowsOf(schema.items, { path: `${place.path}[]`, steps: undefined });
  }
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    below(
      property,
      { path: `${place.path}.${name}`, steps: place.steps && [...place.steps, name] },
      schema.required?.includes(name) ?? false,
    ),
  );
}

/** The rows of a setting, or of what is in it. */
function below(schema: SettingSchema, place: Place, required = false): SettingRow[] {
  const rows = rowsOf(schema, place);
  if (rows.length > 0) return rows;
  const environment = place.steps === undefined ? undefined : environmentName(place.steps, schema);
  return [{ path: place.path, schema, required: required && schema.default === undefined, environment }];
}

function renderTable(rows: readonly SettingRow[]): string {
  const cells = rows.map(({ path, schema, required, environment }) => [
    `\`${path}\``,
    required ? "required" : schema.default === undefined ? "–" : `\`${JSON.stringify(schema.default)}\``,
    ...(rows.some((row) => row.environment !== undefined)
      ? [environment === undefined ? "" : `\`${environment}\``]
      : []),
    renderMeaning(schema),
  ]);
  const heading = ["setting", "default", ...(cells[0]?.length === 4 ? ["environment variable"] : []), "meaning"];
  const line = (row: readonly string[]): string => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return `${[line(heading), line(heading.map(() => "---")), ...cells.map(line)].join("\n")}\n`;
}

function renderMeaning(schema: SettingSchema): string {
  const allowed = schema.const === undefined ? ` Allowed: ${describeAllowed(schema)}.` : "";
  const secret = "secret" in schema ? " Secret: never printed." : "";
  return `${schema.description ?? ""}${allowed}${secret}`;
}
