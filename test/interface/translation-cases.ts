/** Translations of recordings, as Sounding promises them. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { toneFile } from "../../packages/server/test/support/test-transcription.ts";
import type { InterfaceCase } from "./interface-case.ts";
import type { Facts } from "./known-service.ts";

async function translate({ key, url }: Facts, fields: Readonly<Record<string, string>>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", toneFile());
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/audio/translations`, { method: "POST", headers, body: form });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

export const translationCases: readonly InterfaceCase[] = [
  {
    name: "a recording is translated where the engine can, and refused by name elsewhere",
    shows: ["transcription-responses/translations"],
    withoutClient: true,
    async run({ facts }) {
      assert.deepEqual(await translate(facts, { model: "translator" }), { status: 200, body: { text: "Good day." } });
      const { body } = await translate(facts, { model: "translator", response_format: "verbose_json" });
      assert.equal(body["task"], "translate");
      for (const [param, fields] of [
        ["model", { model: "listener" }],
        ["language", { model: "translator", language: "de" }],
        ["stream", { model: "translator", stream: "true" }],
      ] as const) {
        const refused = await translate(facts, fields);
        const error = refused.body["error"] as JsonObject;
        assert.deepEqual([refused.status, error["code"], error["param"]], [400, "unsupported_parameter", param]);
      }
    },
  },
];
