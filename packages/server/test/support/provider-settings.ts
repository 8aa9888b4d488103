/** The settings of an identity provider with their defaults, for tests. */
import assert from "node:assert/strict";
import { resolveConfig } from "../../src/config/load-config.ts";
import type { ProviderSettings } from "../../src/config/sign-in.ts";
import { parseYaml } from "../../src/config/yaml-file.ts";

export function providerSettings(given: Partial<ProviderSettings> & { readonly issuer: string }): ProviderSettings {
  const text = JSON.stringify({ sign_in: { providers: { acme: given } } });
  const { config, problems } = resolveConfig({ file: parseYaml("test.yaml", text), env: {} });
  assert.deepEqual(problems, []);
  return config!.sign_in.providers["acme"]!;
}
