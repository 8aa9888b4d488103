import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { array, assert as check, property, uint8Array } from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { parseContentKey } from "./content-cipher.ts";
import { createTelemetryCipher, hasSealed, mayBeSealed, plainKind, type TelemetryCipher } from "./telemetry-cipher.ts";

const newKey = () => parseContentKey(randomBytes(32).toString("hex"))!;
const [older, newer] = [newKey(), newKey()];
const own = { organizationId: "org_a", kind: "s" };

function seal(cipher: TelemetryCipher, text: string | readonly Uint8Array[], at = own): string {
  const sealing = cipher.seal!(at);
  for (const piece of typeof text === "string" ? [Buffer.from(text)] : text) sealing.add(piece);
  return sealing.end();
}

describe("a cipher of telemetry", () => {
  test("returns what was added in any pieces, after its kind, and stores none of it", () => {
    const cipher = createTelemetryCipher([newer, older]);
    check(
      property(array(uint8Array({ maxLength: 50 })), (pieces) => {
        const stored = seal(cipher, pieces);
        assert.match(stored, new RegExp(`^enc:v2:${newer.id}:s:[\\w-]+$`));
        assert.equal(cipher.open(stored, "org_a"), `s${Buffer.concat(pieces).toString()}`);
      }),
      { numRuns: propertyRuns(200) },
    );
    const plain = seal(cipher, "a message", { ...own, kind: plainKind });
    assert.equal(cipher.open(plain, "org_a"), "a message");
    assert.ok(!Buffer.from(plain.split(":")[4]!, "base64url").includes("a message"));
  });

  test("never uses a nonce twice, in any process", () => {
    const stored = Array.from({ length: 100 }, () => {
      const cipher = createTelemetryCipher([newer]);
      return [seal(cipher, "the same"), seal(cipher, "the same")].map((text) =>
        text.slice(0, "enc:v2:01234567:s:".length + 32),
      );
    });
    assert.equal(new Set(stored.flat()).size, 200);
  });

  test("reads what an earlier key or another process sealed, and leaves other texts alone", () => {
    const stored = seal(createTelemetryCipher([older]), "before");
    assert.equal(createTelemetryCipher([newer, older]).open(stored, "org_a"), "sbefore");
    for (const text of ["", "plain", "enc:v2:", "enc:v2:0123abcd:s:short", "see enc:v2:0123abcd:s:"])
      assert.equal(createTelemetryCipher([newer]).open(text, "org_a"), text);
    assert.ok(hasSealed(`["${stored}"]`) && mayBeSealed(stored) && !mayBeSealed(` ${stored}`));
    assert.equal(createTelemetryCipher([]).seal, undefined);
  });

  test("says which key is missing", () => {
    const stored = seal(createTelemetryCipher([older]), "before", { ...own, kind: "a" });
    for (const keys of [[], [newer]]) {
      const shown = createTelemetryCipher(keys).open(stored, "org_a");
      assert.equal(shown, `s[encrypted with the key ${older.id}, which the server does not have]`);
    }
  });

  test("does not read what was changed, cut, moved to another organization, or given another kind", () => {
    const cipher = createTelemetryCipher([newer]);
    const stored = seal(cipher, "the text, which is long enough to be cut");
    for (const position of [20, 45, 70, stored.length - 2]) {
      const other = stored[position] === "A" ? "B" : "A";
      const changed = stored.slice(0, position) + other + stored.slice(position + 1);
      assert.match(cipher.open(changed, "org_a"), /^s\[cannot be decrypted with the key /, String(position));
    }
    for (const [text, organization] of [
      [stored, "org_b"],
      [stored.slice(0, -8), "org_a"],
      [stored.replace(":s:", ":k:"), "org_a"],
    ] as const)
      assert.match(cipher.open(text, organization), /^s\[cannot be decrypted/);
  });
});
