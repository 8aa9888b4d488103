/** Forms that try to exhaust memory. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Type } from "typebox";
import { operation } from "../../src/api/operation.ts";
import { schema } from "../../src/api/schema.ts";
import { route } from "../../src/http/route.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

let directory: string;
beforeTests(async (stack) => {
  directory = await mkdtemp(join(tmpdir(), "forms-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
});

const upload = () =>
  route(
    operation({
      id: "upload",
      method: "POST",
      path: "/v1/upload",
      tag: "Test",
      summary: "Upload",
      permission: "inference",
      form: { fields: schema(Type.Object({})), file: "Anything." },
      answer: { type: "application/json", description: "How many fields there were." },
    }),
    async ({ form }) => {
      await form!.completed;
      return { kind: "json", value: form!.fields.length };
    },
    { form: { maxFileBytes: 300_000_000, directory } },
  );

async function send(url: string, fields: readonly string[]): Promise<{ status: number; text: string }> {
  const form = new FormData();
  for (const [index, value] of fields.entries()) form.append(`field-${index}`, value);
  const response = await fetch(`${url}/v1/upload`, {
    method: "POST",
    body: form,
    headers: { authorization: `Bearer ${testSecret}` },
  });
  return { status: response.status, text: await response.text() };
}

describe("the fields of a form", () => {
  test("are refused when they exceed the limit together", async () => {
    await using server = await startTestHttp({ routes: [upload()] });
    const field = "x".repeat(250_000);
    assert.deepEqual(await send(server.url, Array<string>(16).fill(field)), { status: 200, text: "16" });
    const refused = await send(server.url, Array<string>(190).fill(field));
    assert.equal(refused.status, 413);
    assert.match(refused.text, /fields have more than 4194304 bytes together/);
  });

  test("are refused when one is too long", async () => {
    await using server = await startTestHttp({ routes: [upload()] });
    const refused = await send(server.url, ["x".repeat(262_145)]);
    assert.equal(refused.status, 413);
    assert.match(refused.text, /field-0\\" has more than 262144 bytes/);
  });

  test("are charged to the memory budget", async () => {
    await using server = await startTestHttp({
      routes: [upload()],
      settings: { max_request_memory_bytes: 2_000_000 },
    });
    const refused = await send(server.url, Array<string>(10).fill("x".repeat(100_000)));
    assert.equal(refused.status, 413);
    assert.match(refused.text, /needs more than 1000000 bytes of memory/);
    assert.deepEqual(await send(server.url, ["x"]), { status: 200, text: "1" });
  });
});
