import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { assert as check, array, property, string } from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { createContentCipher, parseContentKey, plainContent } from "./content-cipher.ts";
import { openContentCiphers } from "./open-content-ciphers.ts";

const [first, second] = [randomBytes(32).toString("base64"), randomBytes(32).toString("hex")];
const [older, newer] = [parseContentKey(first)!, parseContentKey(second)!];
const place = ["responses", "org_a", "r1"];
const settings = { key_command_timeout_ms: 30_000, previous_keys: [] };

describe("a cipher of content", () => {
  test("returns every text, and stores none of it", () => {
    const cipher = createContentCipher([newer, older]);
    const texts = property(string({ unit: "binary", maxLength: 200 }), array(string()), (text, where) => {
      const stored = cipher.encrypt(text, where);
      assert.match(stored, new RegExp(`^enc:v1:${newer.id}:[\\w+/=]+$`));
      assert.equal(cipher.decrypt(stored, where), Buffer.from(text).toString());
    });
    check(texts, { numRuns: propertyRuns(200) });
    assert.notEqual(cipher.encrypt("the same", place), cipher.encrypt("the same", place));
    assert.ok(!Buffer.from(cipher.encrypt("a secret", place).split(":")[3]!, "base64").includes("secret"));
  });

  test("reads what an earlier key encrypted, and what was not encrypted", () => {
    const stored = createContentCipher([older]).encrypt("before", place);
    assert.equal(createContentCipher([newer, older]).decrypt(stored, place), "before");
    assert.equal(createContentCipher([newer]).decrypt('{"plain":1}', place), '{"plain":1}');
    assert.equal(plainContent.encrypt("as it is", place), "as it is");
  });

  test("names the key that is missing", () => {
    const stored = createContentCipher([older]).encrypt("before", place);
    for (const cipher of [createContentCipher([newer]), plainContent]) {
      assert.throws(() => cipher.decrypt(stored, place), {
        code: "internal",
        message: new RegExp(`key ${older.id}, which`),
      });
    }
  });

  test("refuses what was changed, cut or moved", () => {
    const cipher = createContentCipher([newer]);
    const stored = cipher.encrypt("the text", place);
    const changed = Buffer.from(stored.split(":")[3]!, "base64");
    changed[14]! ^= 1;
    for (const [text, where] of [
      [`enc:v1:${newer.id}:${changed.toString("base64")}`, place],
      [stored.slice(0, -8), place],
      [`enc:v1:${newer.id}:`, place],
      [stored, ["responses", "org_b", "r1"]],
      [stored, ["responses", "org_a", "r2"]],
    ] as const) {
      assert.throws(() => cipher.decrypt(text, where), /cannot be decrypted with the key/, text);
    }
  });

  test("has keys of 32 bytes only, whose IDs do not reveal them", () => {
    for (const text of ["", "short", `${first}A`, `${second}0`, "g".repeat(64)])
      assert.equal(parseContentKey(text), undefined);
    assert.equal(parseContentKey(`  ${second.toUpperCase()}\n`)?.id, newer.id);
    assert.ok(!second.includes(newer.id));
  });
});

describe("the keys of content", () => {
  const print = (script: string) => [process.execPath, "-e", script];

  test("come from the configuration, or line by line from a command", async () => {
    const stored = (await openContentCiphers({ ...settings, key: first })).rows.encrypt("text", place);
    const command = print(`console.log(${JSON.stringify(second)}); console.log(${JSON.stringify(first)})`);
    const { rows: cipher } = await openContentCiphers({ ...settings, key_command: command });
    assert.equal(cipher.decrypt(stored, place), "text");
    assert.ok(cipher.encrypt("text", place).startsWith(`enc:v1:${newer.id}:`));
    const { rows: rotated } = await openContentCiphers({ ...settings, key: second, previous_keys: [first] });
    assert.equal(rotated.decrypt(stored, place), "text");
    assert.equal((await openContentCiphers(settings)).rows.encrypt("text", place), "text");
  });

  test("are refused with an error that does not show them", async () => {
    for (const [changed, message] of [
      [
        { key_command: print(`console.log("half of ${second.slice(2)}")`) },
        /^Line 1 of content_encryption.key_command is not a key/,
      ],
      [{ key_command: print("") }, /printed no key/],
      [
        { key_command: print(`console.log("${second}"); console.error("${second}"); process.exit(3)`) },
        /key_command failed: .*code 3/,
      ],
      [{ previous_keys: [first] }, /neither key nor key_command/],
    ] as const) {
      await assert.rejects(
        openContentCiphers({
          ...settings,
          ...changed,
          previous_keys: [...("previous_keys" in changed ? changed.previous_keys : [])],
        }),
        (error: Error) => {
          assert.match(error.message, message);
          assert.ok(!`${error.message} ${error.stack}`.includes(second.slice(2, 40)));
          return true;
        },
      );
    }
  });
});
