import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { UsageError } from "./cli-error.ts";
import { command } from "./command.ts";
import { findSubcommand, parseCommandLine } from "./parse-command-line.ts";

const create = command({
  name: "create",
  summary: "Create a thing",
  arguments: [{ name: "name", description: "Its name.", required: true }],
  options: {
    format: { type: "string", value: "FORMAT", choices: ["text", "csv"], default: "text", description: "Form." },
    tag: { type: "string", short: "t", value: "TAG", multiple: true, description: "A tag." },
    stream: { type: "boolean", default: true, description: "Do not stream." },
  },
  run: async ({ values }) => values.format.length + (values.tag?.length ?? 0) + Number(values.stream),
});
const thing = command({ name: "thing", summary: "Things", subcommands: [create] });

describe("a command line", () => {
  test("gives options, defaults, repeated options, negated switches and arguments", () => {
    const parsed = parseCommandLine(create, ["blue", "-t", "a", "--tag=b", "--no-stream", "--json"]);
    assert.deepEqual({ ...parsed.values }, { format: "text", tag: ["a", "b"], stream: false });
    assert.deepEqual(parsed.positionals, ["blue"]);
    assert.equal(parsed.json, true);
  });

  test("takes words after -- as arguments even when they look like options", () => {
    assert.deepEqual(parseCommandLine(create, ["--", "--blue"]).positionals, ["--blue"]);
  });

  test("leads down to the subcommand", () => {
    const found = findSubcommand(thing, ["create", "blue"]);
    assert.equal(found.command, create);
    assert.deepEqual(found.path, ["thing", "create"]);
    assert.deepEqual(found.rest, ["blue"]);
  });

  for (const [title, words, message] of [
    ["an unknown option", ["blue", "--formt", "csv"], /unknown option --formt; did you mean "--format"\?/],
    ["a value that is not allowed", ["blue", "--format", "xml"], /--format is "xml"; it must be one of text, csv/],
    ["a missing argument", [], /name is missing: Its name\./],
    ["an argument too many", ["blue", "green"], /unexpected argument "green"/],
    ["a missing value", ["blue", "--format"], /'--format <value>' argument missing/],
  ] as const) {
    test(`is refused with ${title}`, () => {
      assert.throws(
        () => parseCommandLine(create, words),
        (error) => error instanceof UsageError && message.test(error.message),
      );
    });
  }

  test("is refused with an unknown subcommand", () => {
    assert.throws(() => findSubcommand(thing, ["creat"]), /unknown command "thing creat"; did you mean "create"\?/);
  });
});
