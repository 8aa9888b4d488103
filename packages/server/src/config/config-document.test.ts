import assert from "node:assert/strict";
import { test } from "node:test";
import { renderConfigPages } from "./config-document.ts";
import { configSchema } from "./config.ts";
import { engineSettings } from "./engine-settings.ts";
import { isSecret } from "./setting-types.ts";
import type { SettingSchema } from "./setting-schema.ts";

const pages = renderConfigPages();
const everything = [...pages.values()].join("\n");

/** Every schema with a description below this one, found independently of the document's code. */
function describedBelow(node: unknown, found: SettingSchema[] = []): SettingSchema[] {
  if (typeof node !== "object" || node === null) return found;
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "properties") found.push(...Object.values(value as Record<string, SettingSchema>));
    if (keyword !== "default") describedBelow(value, found);
  }
  return found;
}

test("the reference describes every setting", () => {
  const settings = describedBelow(configSchema);
  assert.ok(settings.length > 50);
  for (const { description, properties, patternProperties, items } of settings) {
    assert.ok(description, `a setting has no description: ${JSON.stringify({ properties, items })}`);
    // Of a section with settings, only the settings are listed.
    if (properties !== undefined || patternProperties !== undefined || items?.properties !== undefined) continue;
    assert.ok(everything.includes(description), description);
  }
});

test("the reference has a page for every engine type", () => {
  for (const { properties } of engineSettings.anyOf) {
    const type = properties.type.const;
    assert.match(pages.get(`engines/${type}.md`)!, /^## `engines\.<name>\.type`$/m);
    assert.ok(pages.get("engines/README.md")!.includes(`](${type}.md)`), type);
  }
});

test("the index links every section", () => {
  for (const section of Object.keys(configSchema.properties)) {
    assert.match(pages.get("README.md")!, new RegExp(String.raw`\]\(${section}(?:\.md|/README\.md)\)`));
  }
});

test("the reference names variables, defaults, required settings and secrets", () => {
  const entry = (page: string, path: string): string =>
    pages
      .get(page)!
      .split(/^## /m)
      .find((part) => part.startsWith(`\`${path}\`\n`)) ?? "";
  const port = entry("server.md", "server.port");
  for (const fact of [
    "Default: `4141`",
    "Environment variable: `SOUNDING_LISTEN_PORT`, or `SOUNDING_PORT`, or `SOUNDING_SERVER_PORT`",
    "Allowed: an integer from 0 to 65535",
  ]) {
    assert.ok(port.includes(`- ${fact}\n`), fact);
  }
  assert.match(
    entry("storage.md", "storage.database_url"),
    /`DATABASE_URL`, or `SOUNDING_STORAGE_DATABASE_URL`\n- Secret: never printed/,
  );
  assert.match(entry("models.md", "models.<name>.targets[].engine"), /^- Required$/m);
  assert.match(entry("engines/anthropic.md", "engines.<name>.headers.<name>"), /^- Secret: never printed$/m);
  assert.match(pages.get("models.md")!, /^# `models`\n\n.*\n\nChanges take effect without a restart\./);
});

test("settings that sound like credentials are secrets", () => {
  const properties = (node: unknown): [string, SettingSchema][] =>
    typeof node !== "object" || node === null
      ? []
      : Object.entries(node).flatMap(([name, value]: [string, SettingSchema]) => [[name, value], ...properties(value)]);
  const credentials = properties(configSchema).filter(
    ([name, schema]) => /(^|_)(key|secret|password|token)$/.test(name) && schema.type === "string",
  );
  assert.ok(credentials.length > 5);
  for (const [name, schema] of credentials) assert.ok(isSecret(schema), name);
});
