/** The server enforces docs/reference/limits.md: input at a limit is accepted, and input above it is refused as documented. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldLimits, type FieldSchema } from "../../../scripts/field-limits.ts";
import { startServer, type RunningServer } from "../../../test/support/running-server.ts";
import { operations } from "../src/api/index.ts";
import { validate } from "../src/api/validate.ts";
import { AppError, errorTable, type ErrorCode } from "../src/errors.ts";
import { declaredLimits } from "../src/input-limits.ts";
import { beforeTests } from "../../../test/support/hooks.ts";

/** The limit with this description on the page. */
function limitOf(bounds: string): { readonly value: number; readonly status: number; readonly code: string | null } {
  const limit = declaredLimits().find((each) => each.bounds === bounds);
  assert.ok(limit !== undefined, `no limit is declared as "${bounds}"`);
  const { status, code } = errorTable[limit.error as ErrorCode];
  return { value: limit.value, status, code };
}

describe("the server", () => {
  let server: RunningServer;
  beforeTests(async (stack) => {
    server = stack.use(
      await startServer("server: { max_json_body_bytes: 2048, max_json_values: 1000, max_header_bytes: 4096 }"),
    );
  });

  const chat = (more: object): string =>
    JSON.stringify({ model: "none", messages: [{ role: "user", content: "x" }], ...more });
  /** After these checks the model is looked up, and does not exist. */
  const passed = [404, "model_not_found"];

  async function outcomeOf(response: Promise<Response>): Promise<unknown[]> {
    const { status, ...answer } = await response.then(async (each) => ({
      status: each.status,
      body: (await each.json()) as { error?: { code: string | null } },
    }));
    return [status, answer.body.error?.code];
  }

  function padded(text: string, length: number): string {
    return text + " ".repeat(length - text.length);
  }

  test("accepts a JSON body of the maximum size, and none beyond", async () => {
    const post = (length: number) => outcomeOf(server.call("/v1/chat/completions", padded(chat({}), length)));
    assert.deepEqual(await post(2048), passed);
    assert.deepEqual(await post(2049), [413, "payload_too_large"]);
  });

  test("accepts a JSON body with the maximum number of values, and none beyond", async () => {
    // Besides the list's items there are seven values and names.
    const post = (items: number) =>
      outcomeOf(server.call("/v1/chat/completions", `{"stop":[${Array(items).fill("1").join(",")}]}`));
    const most = 1000 - 3;
    assert.deepEqual((await post(most))[0], 400);
    assert.deepEqual(await post(most + 1), [413, "payload_too_large"]);
  });

  test("accepts JSON of the maximum depth, and none beyond", async () => {
    const { value, status, code } = limitOf("Levels of nesting of a JSON body");
    const post = (depth: number) => {
      const inner = `${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}`;
      return outcomeOf(server.call("/v1/chat/completions", chat({}).replace(/}$/, `,"extra":${inner}}`)));
    };
    assert.deepEqual(await post(value), passed);
    assert.deepEqual(await post(value + 1), [status, code]);
  });

  test("accepts headers of the maximum size, and none beyond", async () => {
    const get = (length: number) =>
      outcomeOf(server.call("/v1/models/none", undefined, { "x-filler": "x".repeat(length) }));
    assert.deepEqual(await get(3000), passed);
    assert.deepEqual(await get(4096), [431, "headers_too_large"]);
  });

  test("accepts the maximum number of form fields, and none beyond", async () => {
    const { value, status, code } = limitOf("Fields of a form");
    const post = (count: number) => {
      const form = new FormData();
      form.append("model", "none");
      for (let index = 1; index < count; index += 1) form.append("timestamp_granularities[]", "word");
      form.append("file", new Blob(["x"]), "a.wav");
      const headers = { authorization: `Bearer ${server.key}` };
      return outcomeOf(fetch(`${server.url}/v1/audio/transcriptions`, { method: "POST", body: form, headers }));
    };
    assert.notDeepEqual((await post(value))[0], 413);
    assert.deepEqual(await post(value + 1), [status, code]);
  });

  test("accepts a path parameter of the maximum length, and none beyond", async () => {
    const { value, status } = limitOf("A parameter in the path of a URL");
    const get = (length: number) => server.call(`/prometheus/api/v1/label/${"x".repeat(length)}/values`);
    // Telemetry is disabled here.
    assert.equal((await get(value)).status, 503);
    const beyond = await get(value + 1);
    assert.deepEqual([beyond.status, ((await beyond.json()) as { errorType: string }).errorType], [status, "bad_data"]);
  });

  test("lists the maximum number of objects per page, and refuses more", async () => {
    const { value, status, code } = limitOf("Objects in one page of a list (`limit`)");
    const list = (limit: number) =>
      server.call(`/admin/v1/organizations?limit=${limit}`, undefined, {
        authorization: `Bearer ${server.operatorKey}`,
      });
    assert.equal((await list(value)).status, 200);
    assert.deepEqual(await outcomeOf(list(value + 1)), [status, code]);
  });
});

/** Required members with patterns, which the smallest text does not match. */
const patternedMembers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createPerson: { email: "ada@example.com" },
  createMembership: { person_id: `pers_${"0".repeat(32)}` },
  addOneTimeCodes: { secret: "A".repeat(32), code: "000000" },
};

describe("every documented limit of a field", () => {
  const cases = operations.flatMap((operation) => {
    const fields = operation.body ?? operation.form?.fields;
    return fields === undefined ? [] : fieldLimits([operation]).map((limit) => ({ ...limit, schema: fields.json }));
  });

  test("exists", () => assert.ok(cases.length > 50));

  for (const { operation, field, what, most, schema } of cases) {
    test(`${operation}: ${field}, ${what}, at most ${most}`, () => {
      const refused = (size: number): string | null => {
        const made = valueAt(schema, field.split(/\.|(?=\[\])/), (leaf) => sized(leaf, what, size));
        const { [field]: _, ...patterned } = patternedMembers[operation] ?? {};
        const value = { ...(made as object), ...patterned };
        try {
          validate({ json: schema }, value);
          return null;
        } catch (error) {
          assert.ok(error instanceof AppError && error.status === 400);
          return error.param;
        }
      };
      const named = refused(most + 1)?.replaceAll(/\[\d+\]/g, "[]");
      // A member whose name is a number is shown like an item.
      assert.equal(named, field.replaceAll(".*", "[]"));
    });
  }
});

/** The value of a schema that contains only the path to one member. */
function valueAt(schema: FieldSchema, path: readonly string[], make: (leaf: FieldSchema) => unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || step === "the body") return make(schema);
  const branches = schema.anyOf ?? [schema];
  for (const branch of branches) {
    if (branch.anyOf !== undefined) return valueAt(branch, path, make);
    const inner =
      step === "[]"
        ? branch.items
        : step === "*"
          ? Object.values(branch.patternProperties ?? {})[0]
          : branch.properties?.[step];
    if (inner === undefined) continue;
    const value = valueAt(inner, rest, make);
    const tags = Object.entries(branch.properties ?? {}).flatMap(([name, { const: tag }]) =>
      tag === undefined ? [] : [[name, tag]],
    );
    return step === "[]"
      ? [value]
      : { ...required(branch), ...Object.fromEntries(tags), [step === "*" ? "1" : step]: value };
  }
  return undefined;
}

/** The smallest values of the required members. */
function required({ properties = {}, required: names = [] }: FieldSchema): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, smallest(properties[name] ?? {})]));
}

function smallest(schema: FieldSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return smallest(schema.anyOf[0]!);
  switch (schema.type) {
    case "object":
      return required(schema);
    case "array":
      return schema.items === undefined ? [] : [smallest(schema.items)];
    case "string":
      return "x";
    default:
      return schema.type === "boolean" ? true : (schema.minimum ?? 1);
  }
}

/** A value of this size for the keyword's kind. */
function sized(schema: FieldSchema, what: string, size: number): unknown {
  switch (what) {
    case "characters":
      return "x".repeat(size);
    case "items": {
      const list = (schema.anyOf ?? [schema]).find(({ maxItems }) => maxItems !== undefined);
      return Array(size).fill(list?.items?.type === "string" ? "x" : {});
    }
    case "members": {
      const map = (schema.anyOf ?? [schema]).find(({ patternProperties }) => patternProperties !== undefined);
      const [member] = Object.values(map?.patternProperties ?? {});
      const value = member?.type === "array" || member?.type === "string" ? smallest(member) : 1;
      return Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, value]));
    }
    default:
      return size;
  }
}
