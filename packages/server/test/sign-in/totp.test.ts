/** One-time codes are those of RFC 6238, and work once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stepOfCode, totpCode, totpStep } from "../../src/sign-in/totp.ts";

/** "12345678901234567890" in base32. */
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test("codes are those of RFC 6238, appendix B", () => {
  const vectors = [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ] as const;
  for (const [time, code] of vectors) assert.equal(totpCode(secret, totpStep(time), 8), code);
});

test("a code is accepted one step early and late, and never at or before a used step", () => {
  const nowSeconds = 1_234_567_890;
  const now = totpStep(nowSeconds);
  for (const off of [-1, 0, 1])
    assert.equal(stepOfCode(secret, totpCode(secret, now + off), { nowSeconds }), now + off);
  for (const off of [-2, 2]) assert.equal(stepOfCode(secret, totpCode(secret, now + off), { nowSeconds }), undefined);
  assert.equal(stepOfCode(secret, totpCode(secret, now), { nowSeconds, after: now }), undefined);
  for (const code of ["", "12345", "1234567", "abcdef"])
    assert.equal(stepOfCode(secret, code, { nowSeconds }), undefined);
});
