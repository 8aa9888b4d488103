/** Passwords are hashed with the parameters of OWASP, and stored ones keep theirs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultCost, PasswordHash } from "../../src/sign-in/password-hash.ts";

test("a hash has the parameters of OWASP and a salt, and yields its key for the right password only", async () => {
  const hash = new PasswordHash();
  const { key, stored } = await hash.create("seven quiet lanterns");
  assert.match(stored, /^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
  assert.ok(!stored.includes(key));
  assert.equal(await new PasswordHash({ ...defaultCost, N: 2 ** 4 }).check("seven quiet lanterns", stored), key);
  assert.equal(await hash.check("seven quiet lantern", stored), undefined);
});

test("a password is the same in each form of its characters, and two hashes of it differ", async () => {
  const hash = new PasswordHash({ N: 2 ** 4, r: 8, p: 1 });
  const [first, second] = [await hash.create("caf\u00e9 au lait"), await hash.create("caf\u00e9 au lait")];
  assert.notEqual(first.stored, second.stored);
  assert.equal(await hash.check("cafe\u0301 au lait", first.stored), first.key);
});

test("without an account, no password is right", async () => {
  assert.equal(await new PasswordHash({ N: 2 ** 4, r: 8, p: 1 }).check("", undefined), undefined);
});
