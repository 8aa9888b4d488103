import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { Type } from "typebox";
import { formatProblem } from "./problem.ts";
import type { Resolution } from "./resolution.ts";
import { resolveSettings } from "./resolve-settings.ts";
import { secret } from "./setting-types.ts";
import { parseYaml } from "./yaml-file.ts";

const schema = Type.Object({
  room: Type.Object(
    {
      size: Type.Integer({ minimum: 1, maximum: 10, default: 3 }),
      ratio: Type.Number({ default: 0.5 }),
      name: Type.Optional(Type.String({ minLength: 1 })),
      open: Type.Boolean({ default: false }),
      colours: Type.Array(Type.String(), { default: ["red"] }),
      key: Type.Optional(secret("A key.", { env: "ROOM_KEY" })),
    },
    { default: {} },
  ),
  things: Type.Record(
    Type.String(),
    Type.Union([
      Type.Object({
        type: Type.Literal("cup"),
        volume: Type.Integer({ default: 2 }),
        url: Type.Optional(Type.String()),
      }),
      Type.Object({
        type: Type.Literal("plate"),
        key: secret("A key."),
        extra: Type.Optional(Type.Object({}, { additionalProperties: true })),
        headers: Type.Optional(Type.Record(Type.String(), Type.String())),
      }),
    ]),
    { default: {} },
  ),
  shelf: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      minProperties: 1,
      propertyNames: Type.String({ pattern: "^[a-z]+$" }),
    }),
  ),
  list: Type.Array(Type.Object({ a: Type.String(), b: Type.Integer({ default: 1 }) }), { default: [], maxItems: 2 }),
});

interface Given {
  readonly env?: Record<string, string>;
  readonly overrides?: unknown;
}

function resolve(text: string, { env = {}, overrides = {} }: Given = {}) {
  const file = parseYaml("test.yaml", text);
  const resolution: Resolution = { file, env, overrides, problems: [...file.problems], sources: [] };
  const value = resolveSettings(schema, { path: [], value: file.value ?? {}, fixed: true }, resolution);
  return {
    value: value as Record<string, unknown>,
    problems: resolution.problems.map(formatProblem),
    sources: resolution.sources,
  };
}

const defaults = { room: { size: 3, ratio: 0.5, open: false, colours: ["red"] }, things: {}, list: [] };

describe("settings", () => {
  test("have their defaults if nothing is set, even in empty sections", () => {
    for (const text of ["", "# nothing", "room:\nthings:\nlist:", "room: {}", "room: {size: }"]) {
      assert.deepEqual(resolve(text), { ...resolve(""), value: defaults, problems: [] }, text);
    }
  });

  test("give precedence to the command line, then the environment, then the file", () => {
    const file = "room: {size: 1, open: true}";
    const size = (given: Given) => (resolve(file, given).value["room"] as { size: number }).size;
    assert.equal(size({}), 1);
    assert.equal(size({ env: { SOUNDING_ROOM_SIZE: "2" } }), 2);
    assert.equal(size({ env: { SOUNDING_ROOM_SIZE: "" } }), 1);
    assert.equal(size({ env: { SOUNDING_ROOM_SIZE: "2" }, overrides: { room: { size: 4 } } }), 4);
  });

  test("are read from their own variable, and from the one that follows from the path", () => {
    const key = (env: Record<string, string>): unknown =>
      (resolve("", { env }).value as { room: { key?: string } }).room.key;
    assert.equal(key({ SOUNDING_ROOM_KEY: "b" }), "b");
    assert.equal(key({ SOUNDING_ROOM_KEY: "b", ROOM_KEY: "a" }), "a");
    assert.equal(key({ SOUNDING_ROOM_KEY: "tcp://10.0.0.7:80" }), undefined);
  });

  test("are read from the environment with their types", () => {
    const env = {
      SOUNDING_ROOM_SIZE: " 7 ",
      SOUNDING_ROOM_RATIO: "-0.25",
      SOUNDING_ROOM_OPEN: "TRUE",
      SOUNDING_ROOM_COLOURS: "green, blue,",
      SOUNDING_ROOM_NAME: "12",
      ROOM_KEY: "abc",
    };
    const { value, problems } = resolve("", { env });
    assert.deepEqual(problems, []);
    const room = { size: 7, ratio: -0.25, open: true, colours: ["green", "blue"], name: "12", key: "abc" };
    assert.deepEqual(value["room"], room);
  });

  test("substitute variables into strings, and parse numbers from them", () => {
    const text = [
      "room: {size: '${SIZE}', name: 'a ${NAME}', colours: ['${NAME}', x]}",
      "things: {p: {type: plate, key: '${KEY}', extra: {deep: [{x: '${NAME}'}], y: 1}, headers: {h: '${NAME}'}}}",
    ].join("\n");
    const { value, problems, sources } = resolve(text, { env: { SIZE: "9", NAME: "b", KEY: "k" } });
    assert.deepEqual(problems, []);
    assert.deepEqual(value["room"], { ...defaults.room, size: 9, name: "a b", colours: ["b", "x"] });
    assert.deepEqual(value["things"], {
      p: { type: "plate", key: "k", extra: { deep: [{ x: "b" }], y: 1 }, headers: { h: "b" } },
    });
    const shown = sources.find((source) => source.path === "room.name")?.shown;
    assert.equal(shown, "a ${NAME}", "a value with variables is shown as written");
  });

  test("report where each value came from", () => {
    const { sources } = resolve("room:\n  size: 1\n", {
      env: { ROOM_KEY: "abc" },
      overrides: { room: { open: true } },
    });
    assert.deepEqual(sources.slice(0, 6), [
      { path: "room.size", shown: 1, origin: { kind: "file", file: "test.yaml", line: 2 } },
      { path: "room.ratio", shown: 0.5, origin: { kind: "default" } },
      { path: "room.open", shown: true, origin: { kind: "command_line" } },
      { path: "room.colours", shown: ["red"], origin: { kind: "default" } },
      { path: "room.key", shown: "[hidden]", origin: { kind: "environment", name: "ROOM_KEY" } },
    ]);
  });

  test("may be written once and reused with YAML's anchors and merges", () => {
    const { value, problems } = resolve(
      "things:\n  a: &cup {type: cup, volume: 5}\n  b: *cup\n  c: {<<: *cup, volume: 6}",
    );
    assert.deepEqual(problems, []);
    const cup = { type: "cup", volume: 5 };
    assert.deepEqual(value["things"], { a: cup, b: cup, c: { ...cup, volume: 6 } });
  });

  test("named like an Object property are ordinary names", () => {
    const { value, problems } = resolve("things: {__proto__: {type: cup}, constructor: {type: cup}}");
    assert.deepEqual(problems, []);
    assert.deepEqual(Object.keys(value["things"] as object), ["__proto__", "constructor"]);
  });
});

const wrong: readonly [title: string, text: string, given: Given, ...problems: string[]][] = [
  ["an unknown name", "room:\n  sise: 1", {}, 'test.yaml:2:3: Unknown setting "sise" in room. Did you mean "size"?'],
  [
    "an unknown section",
    "zoo: 1",
    {},
    'test.yaml:1:1: Unknown setting "zoo". Known settings: room, things, shelf, list.',
  ],
  [
    "an unknown name like no other",
    "room:\n  something: 1",
    {},
    'test.yaml:2:3: Unknown setting "something" in room. Known settings: size, ratio, name, open, colours, key.',
  ],
  [
    "a number out of range",
    "room: {size: 11}",
    {},
    "test.yaml:1:14: room.size is 11; it must be an integer from 1 to 10.",
  ],
  [
    "a text for a number",
    "room: {size: '3'}",
    {},
    'test.yaml:1:14: room.size is "3"; it must be an integer from 1 to 10.',
  ],
  ["a list for a map", "room: [1]", {}, "test.yaml:1:1: room is [1]; it must be a map of names to values."],
  [
    "a text for a list",
    "room:\n  colours: red",
    {},
    'test.yaml:2:12: room.colours is "red"; it must be a list, each item text.',
  ],
  ["a word for a truth", "room: {open: yes}", {}, 'test.yaml:1:14: room.open is "yes"; it must be true or false.'],
  ["a text for everything", "hello", {}, 'test.yaml:1:1: The file is "hello"; it must be a map of names to values.'],
  [
    "a wrong value in the environment",
    "room: {size: 1}",
    { env: { SOUNDING_ROOM_SIZE: "many" } },
    'The environment variable SOUNDING_ROOM_SIZE (room.size) is "many"; it must be an integer from 1 to 10.',
  ],
  [
    "a wrong value on the command line",
    "",
    { overrides: { room: { size: 0 } } },
    "room.size is 0; it must be an integer from 1 to 10.",
  ],
  [
    "a type that is missing",
    "things:\n  a: {}",
    {},
    "test.yaml:2:3: things.a.type is missing; it must be cup or plate.",
  ],
  [
    "a type that does not exist",
    "things:\n  a: {type: cupp}",
    {},
    'test.yaml:2:13: things.a.type is "cupp"; it must be cup or plate. Did you mean "cup"?',
  ],
  ["an entry that is empty", "things:\n  a:", {}, "test.yaml:2:3: things.a must be a map with a `type`: cup or plate."],
  [
    "a required setting that is missing",
    "things:\n  a: {type: plate}",
    {},
    "test.yaml:2:3: things.a.key is missing; it must be non-empty text.",
  ],
  [
    "a secret that is wrong, without showing it",
    "things: {'a b': {type: plate, key: 12345}}",
    {},
    'test.yaml:1:36: things["a b"].key has a value that is not allowed (hidden because it is a secret); it must be non-empty text.',
  ],
  [
    "a variable that is not set",
    "things: {a: {type: cup, url: '${NOWHERE}/x'}}",
    {},
    "test.yaml:1:30: things.a.url uses the environment variable NOWHERE, which is not set; set it, or write `${NOWHERE:-default}`.",
  ],
  ["a map with too little in it", "shelf: {}", {}, "test.yaml:1:1: shelf is empty; it must have at least 1 entry."],
  [
    "a name that is not allowed",
    "shelf: {a: 1, A1: 2}",
    {},
    'test.yaml:1:15: shelf has the name "A1"; it must be a name that matches `^[a-z]+$`.',
  ],
  ["an item that lacks something", "list: [{b: 2}]", {}, "test.yaml:1:8: list[0].a is missing; it must be text."],
  ["too many items", "list: [{a: x}, {a: x}, {a: x}]", {}, "test.yaml:1:1: list has 3 items; at most 2 are allowed."],
  [
    "a name that is given twice",
    "room:\n  size: 1\n  size: 2",
    {},
    'test.yaml:3:3: The name "size" appears twice in the same map; remove one of them.',
  ],
  ["a tag that means nothing", "room:\n  name: !vault x", {}, "test.yaml:2:9: Not valid YAML: Unresolved tag: !vault"],
  [
    "several things, all told",
    "room: {size: 0, open: 1}\nlist: 5",
    {},
    "test.yaml:1:14: room.size is 0; it must be an integer from 1 to 10.",
    "test.yaml:1:23: room.open is 1; it must be true or false.",
    "test.yaml:2:1: list is 5; it must be a list of at most 2, each item a map of names to values.",
  ],
];

describe("a problem is reported with its location, the value and what is allowed:", () => {
  for (const [title, text, given, ...problems] of wrong) {
    test(title, () => assert.deepEqual(resolve(text, given).problems, problems));
  }

  test("text that is not YAML, with the line of the fault", () => {
    assert.match(resolve("room:\n  size: [1, 2\n").problems.join(), /^test\.yaml:\d:\d+: Not valid YAML: /);
    assert.match(resolve("a: 1\n---\nb: 2\n").problems.join(), /Not valid YAML: .*multiple documents/);
  });

  test("text that expands without bound", () => {
    const levels = ["b", "c", "d", "e", "f", "g", "h"].map((name, index) => {
      const before = "abcdefgh"[index];
      return `${name}: &${name} [${Array(9).fill(`*${before}`).join()}]`;
    });
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]", ...levels].join("\n");
    assert.match(resolve(bomb).problems.join(), /The YAML cannot be used: Excessive alias count/);
  });
});

test("a secret never appears in problems and sources, whatever other mistakes exist", () => {
  const hiddenText = "s3cr3t-value";
  const value = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null));
  fc.assert(
    fc.property(value, value, fc.boolean(), (size, volume, inEnvironment) => {
      const plate = { type: "plate", key: inEnvironment ? "${KEY}" : hiddenText, volume };
      const text = JSON.stringify({ room: { size, key: [hiddenText] }, things: { plate }, zoo: 1 });
      const env = { KEY: hiddenText, ...(inEnvironment ? { ROOM_KEY: hiddenText } : {}) };
      const { problems, sources } = resolve(text, { env });
      assert.doesNotMatch(JSON.stringify([problems, sources]), new RegExp(hiddenText));
    }),
  );
});

test("any JSON gives settings or problems, and never throws", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const { problems, sources } = resolve(text);
      assert.ok(Array.isArray(problems) && Array.isArray(sources));
    }),
  );
});
