/** The configuration reference, written from the schemas: every setting with its variable, its default and its meaning. */
import { configSchema, isReloadable } from "./config.ts";
import { describeAllowed, entrySchema, environmentNames, typedMembers, type SettingSchema } from "./setting-schema.ts";

/** One row of the reference. */
export interface SettingRow {
  readonly path: string;
  readonly schema: SettingSchema;
  readonly required: boolean;
  /** Undefined where the path has names of the user's choice in it. */
  readonly environment: readonly string[] | undefined;
}

/** Where the pages are, relative to the repository. */
export const configPagesFolder = "docs/reference/configuration";

const sections = Object.entries(configSchema.properties as Readonly<Record<string, SettingSchema>>);

/** Every setting; those of engines once for each type of engine. */
export function settingRows(): SettingRow[] {
  return sections.flatMap(([name, schema]) => {
    const types = typesOf(schema);
    if (types === undefined) return rowsOf(schema, { path: name, steps: [name] });
    return [...types].flatMap(([type, member]) => rowsOf(member, { path: `${name}.<${type}>`, steps: undefined }));
  });
}

/** The pages as Markdown by their path in `configPagesFolder`: an index, one for each section, one for each type of entry. */
export function renderConfigPages(): ReadonlyMap<string, string> {
  const pages = new Map([["README.md", renderIndex()]]);
  for (const [name, schema] of sections) {
    const types = typesOf(schema);
    if (types === undefined) {
      pages.set(
        `${name}.md`,
        `${heading(name, schema)}\n${renderSettings(rowsOf(schema, { path: name, steps: [name] }))}`,
      );
      continue;
    }
    const entries = [...types].map(([type, { description }]) => `- [\`${type}\`](${type}.md): ${description ?? ""}`);
    const use = `Each entry of \`${name}\` has a name of your choice and a \`type\`, which decides its other settings:`;
    pages.set(`${name}/README.md`, `${heading(name, schema)}\n${use}\n\n${entries.join("\n")}\n`);
    for (const [type, member] of types) pages.set(`${name}/${type}.md`, renderType({ name, type, member }));
  }
  return pages;
}

function typesOf(schema: SettingSchema): ReadonlyMap<string, SettingSchema> | undefined {
  const map = entrySchema(schema);
  return map === undefined ? undefined : typedMembers(map.entry);
}

function renderIndex(): string {
  const lines = sections.map(([name, schema]) => {
    const path = typesOf(schema) === undefined ? `${name}.md` : `${name}/README.md`;
    return `- [\`${name}\`](${path}): ${schema.description ?? ""}`;
  });
  return `# Configuration reference

Every setting of \`sounding.yaml\`, one page for each section. [Configuration](../../start/configuration.md) explains how the
file, the environment and the command line work together. \`sounding config show\` prints the settings in effect, and
\`sounding config check\` finds mistakes.

These pages are generated from the schemas in \`packages/server/src/config/\` by \`npm run generate\`.

${lines.join("\n")}
`;
}

function heading(name: string, schema: SettingSchema): string {
  const reload = isReloadable(name) ? "\n\nChanges take effect without a restart." : "";
  return `# \`${name}\`\n\n${schema.description ?? ""}${reload}\n`;
}

function renderType({ name, type, member }: { name: string; type: string; member: SettingSchema }): string {
  const rows = rowsOf(member, { path: `${name}.<name>`, steps: undefined });
  return `# \`${name}\` of type \`${type}\`\n\n${member.description ?? ""}\n\n${renderSettings(rows)}`;
}

interface Place {
  readonly path: string;
  /** The names that the environment variable is made of. */
  readonly steps: readonly string[] | undefined;
}

function rowsOf(schema: SettingSchema, place: Place): SettingRow[] {
  const types = typesOf(schema);
  if (types !== undefined) {
    // What a name of the user's choice would be is the type here, as the settings depend on it.
    return [...types].flatMap(([type, member]) =>
      rowsOf(member, { path: `${place.path}.<${type}>`, steps: undefined }),
    );
  }
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
  const environment = place.steps === undefined ? undefined : environmentNames(place.steps, schema);
  return [
    {
      path: place.path,
      schema,
      required: required && schema.default === undefined && schema.describedDefault === undefined,
      environment,
    },
  ];
}

function renderSettings(rows: readonly SettingRow[]): string {
  return rows.map(renderSetting).join("\n");
}

/** A heading for each setting, so that it has an anchor and no line is wide. */
function renderSetting({ path, schema, required, environment }: SettingRow): string {
  const facts = [
    required ? "Required" : describeDefault(schema),
    schema.const === undefined ? `Allowed: ${describeAllowed(schema)}` : `Value: \`${JSON.stringify(schema.const)}\``,
    environment === undefined
      ? undefined
      : `Environment variable: ${environment.map((name) => `\`${name}\``).join(", or ")}`,
    "secret" in schema ? "Secret: never printed" : undefined,
  ].filter((fact) => fact !== undefined);
  return `## \`${path}\`\n\n${schema.description ?? ""}\n\n${facts.map((fact) => `- ${fact}`).join("\n")}\n`;
}

function describeDefault(schema: SettingSchema): string | undefined {
  const text = schema.default === undefined ? undefined : `\`${JSON.stringify(schema.default)}\``;
  const shown = text ?? schema.describedDefault;
  return shown === undefined ? undefined : `Default: ${shown}`;
}
