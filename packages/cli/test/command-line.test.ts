import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { commands } from "../src/commands.ts";
import { runSounding, spawnSounding } from "./run-sounding.ts";

describe("the command sounding", () => {
  test("without a command shows its commands on stderr and exits with 2", async () => {
    const { code, stdout, stderr } = await spawnSounding([]);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    for (const { name } of commands) assert.match(stderr, new RegExp(`^  ${name} `, "m"));
  });

  test("shows its help and its version on stdout", async () => {
    const help = await spawnSounding(["--help"]);
    assert.equal(help.code, 0);
    assert.match(help.stdout, /Usage: sounding <command>/);
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    assert.deepEqual(await runSounding(["--version"]), { code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("shows the help of a command in two ways", async () => {
    const [first, second] = await Promise.all([runSounding(["chat", "--help"]), runSounding(["help", "chat"])]);
    assert.equal(first.code, 0);
    assert.match(first.stdout, /Usage: sounding chat \[options\] \[prompt…\]/);
    assert.match(first.stdout, /--no-stream/);
    assert.deepEqual(first, second);
  });

  test("refuses unknown commands and options with one helpful line, as JSON on request", async () => {
    const unknown = await spawnSounding(["chta"]);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /^sounding: unknown command "chta"; did you mean "chat"\?\n/);
    const option = await runSounding(["chat", "--modle", "m", "--json"]);
    assert.equal(option.code, 2);
    assert.deepEqual(JSON.parse(option.stderr), {
      error: { message: 'unknown option --modle; did you mean "--model"?', exit_code: 2 },
    });
  });
});

describe("every command", () => {
  test("has the name of its entry, and options that do not clash with the common ones", async () => {
    for (const { name, load } of commands) {
      const command = await load();
      assert.equal(command.name, name);
      for (const each of [command, ...(command.subcommands ?? [])]) {
        for (const option of Object.keys(each.options ?? {})) {
          assert.ok(!["help", "json", "color"].includes(option), `${each.name} --${option}`);
        }
        assert.ok(each.run !== undefined || each.subcommands !== undefined, `${each.name} does nothing`);
      }
    }
  });

  test("loads the server only when it runs", () => {
    const directory = new URL("../src/commands/", import.meta.url);
    for (const file of readdirSync(directory).filter((name) => !name.endsWith(".test.ts"))) {
      const source = readFileSync(new URL(file, directory), "utf8");
      assert.doesNotMatch(source, /^import (?!type )[^;]*from "@sounding\/server/m, file);
    }
  });
});
