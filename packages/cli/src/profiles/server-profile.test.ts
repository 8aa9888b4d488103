import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readProfiles } from "./profile-file.ts";
import { storeFirstKeys } from "./server-profile.ts";

test("a new data directory at an address that is known replaces no keys", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "sounding-profiles-"));
  context.after(() => rm(folder, { recursive: true }));
  const env = { XDG_CONFIG_HOME: folder };
  const url = "http://127.0.0.1:4141";
  const store = async (key: string) => await storeFirstKeys(env, url, { key, operatorKey: undefined });
  assert.equal((await store("sk-1")).kept, undefined);
  assert.equal((await store("sk-2")).kept, "default-2");
  assert.equal((await store("sk-3")).kept, "default-3");
  const keys = [...(await readProfiles(env))].map(([name, { apiKey }]) => [name, apiKey]);
  assert.deepEqual(Object.fromEntries(keys), { default: "sk-3", "default-2": "sk-1", "default-3": "sk-2" });
});
