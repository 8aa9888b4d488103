import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runSounding } from "./run-sounding.ts";
import { needs } from "../../../test/support/needs.ts";

const directory = mkdtempSync(join(tmpdir(), "sounding-completion-"));
after(() => rmSync(directory, { recursive: true }));
writeFileSync(join(directory, "my talk.wav"), "");
mkdirSync(join(directory, "my folder"));

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runSounding(["completion", shell]);
  assert.deepEqual([code, stderr], [0, ""]);
  const path = join(directory, shell);
  writeFileSync(path, stdout);
  return path;
}

/** The completions for each line, which every shell must return. */
const lines: readonly (readonly [words: readonly string[], expected: readonly string[]])[] = [
  [["sp"], ["speak", "spend"]],
  [
    ["key", ""],
    ["create", "list", "revoke", "rotate", "show", "update"],
  ],
  [["key", "l"], ["list"]],
  [
    ["speak", "--format", ""],
    ["mp3", "opus", "pcm", "wav"],
  ],
  [["speak", "-f", "m"], ["mp3"]],
  [["--json", "speak", "--voi"], ["--voice"]],
  [["chat", "--model", "key", "--no-s"], ["--no-stream"]],
  [["transcribe", "my t"], ["my talk.wav"]],
  [
    ["completion", ""],
    ["bash", "fish", "zsh"],
  ],
  [["speak", "--voice", ""], []],
];

describe("sounding completion bash", () => {
  for (const [words, expected] of lines) {
    test(`completes: sounding ${words.join(" ")}`, async () => {
      const path = await scriptFor("bash");
      const code = `source "$1"; shift; COMP_WORDS=(sounding "$@"); COMP_CWORD=$#; _sounding; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync("bash", ["--norc", "-euc", code, "-", path, ...words], {
        cwd: directory,
        encoding: "utf8",
      });
      assert.equal(stderr, "");
      assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), expected);
    });
  }

  test("completes a value after an equals sign, which bash treats as a word", async () => {
    const path = await scriptFor("bash");
    const code = `source "$1"; COMP_WORDS=(sounding speak --format = w); COMP_CWORD=4; _sounding; echo "\${COMPREPLY[@]}"`;
    assert.equal(spawnSync("bash", ["--norc", "-euc", code, "-", path], { encoding: "utf8" }).stdout, "wav\n");
  });
});

describe("sounding completion fish", { skip: needs("fish") }, () => {
  for (const [words, expected] of lines) {
    test(`completes: sounding ${words.join(" ")}`, async () => {
      const path = await scriptFor("fish");
      const line = ["sounding", ...words.map((word) => word.replace(" ", "\\ "))].join(" ");
      const { stdout } = spawnSync("fish", ["--no-config", "-c", `source ${path}; complete -C $argv[1]`, line], {
        cwd: directory,
        encoding: "utf8",
      });
      const completed = stdout
        .split("\n")
        .filter(Boolean)
        .map((each) => each.split("\t")[0]!.replace("\\ ", " "));
      assert.deepEqual(completed.sort(), expected);
    });
  }
});

describe("sounding completion zsh", { skip: needs("zsh") }, () => {
  test("is a script that zsh can read", async () => {
    const { status, stderr } = spawnSync("zsh", ["-f", "-n", await scriptFor("zsh")], { encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""]);
  });

  test("quotes the commands' descriptions", async () => {
    const { stdout } = await runSounding(["completion", "zsh", "--json"]);
    const { shell, script } = JSON.parse(stdout) as { shell: string; script: string };
    assert.equal(shell, "zsh");
    assert.match(script, /'\*--sha256=\[Expected checksum [^\]]+\.\]: : '/);
    assert.match(script, /update:Change an API key'\\''s name/);
  });
});

test("another shell is refused by name", async () => {
  const { code, stderr } = await runSounding(["completion", "bsh"]);
  assert.equal(code, 2);
  assert.match(stderr, /shell is "bsh"; did you mean "bash"\?/);
});
