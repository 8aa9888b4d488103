import assert from "node:assert/strict";
import { test } from "node:test";
import { renderConfigDocument } from "./config-document.ts";
import { configSchema } from "./config.ts";
import { engineSettings } from "./engine-settings.ts";
import { isSecret } from "./secret.ts";
import type { SettingSchema } from "./setting-schema.ts";

const document = renderConfigDocument();

/** Every schema with a description below this one, found without any of the document's own code. */
function describedBelow(node: unknown, found: SettingSchema[] = []): SettingSchema[] {
  if (typeof node !== "object" || node === null) return found;
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "properties") found.push(...Object.values(value as Record<string, SettingSchema>));
    if (keyword !== "default") describedBelow(value, found);
  }
  return found;
}

test("the reference has the meaning of every setting", () => {
  const settings = describedBelow(configSchema);
  assert.ok(settings.length > 50);
  for (const { description, properties, patternProperties, items } of settings) {
    assert.ok(description, `a setting has no description: ${JSON.stringify({ properties, items })}`);
    // Of what holds further settings, those are told.
    if (properties !== undefined || patternProperties !== undefined || items?.properties !== undefined) continue;
    assert.ok(document.includes(description.replaceAll("|", "\\|")), description);
  }
});

test("the reference has every engine type", () => {
  for (const { properties } of engineSettings.anyOf) {
    assert.ok(document.includes(`### \`type: ${properties.type.const}\``), properties.type.const);
  }
});

test("the reference names variables, defaults, what is required and what is secret", () => {
  const row = (path: string): string => document.split("\n").find((line) => line.startsWith(`| \`${path}\``)) ?? "";
  assert.match(row("server.port"), /\| `4141` \| `SOUNDING_LISTEN_PORT` \| .*Allowed: an integer from 0 to 65535\./);
  assert.match(row("storage.database_url"), /`DATABASE_URL` .*Secret: never printed\./);
  assert.match(row("models.<name>.targets[].engine"), /\| required \|/);
  assert.match(row("engines.<name>.headers.<name>"), /Secret: never printed\./);
  assert.match(document, /## `models`\n\n.*May change while the server runs\./);
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
