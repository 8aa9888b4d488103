import assert from "node:assert/strict";
import { test } from "node:test";
import { Router } from "./router.ts";

const router = new Router<string>();
for (const pattern of ["/a", "/a/{id}", "/a/{id}/c", "/a/literal/d", "/m", "/m/{+rest}", "/t/{+tag}/values"])
  router.add(pattern, pattern);

const found: [target: string, pattern: string | undefined, parameters?: Record<string, string>][] = [
  ["/a", "/a"],
  ["/a?x=%zz", "/a"],
  ["/a#fragment", "/a"],
  ["/%61", "/a"],
  ["http://host/a?x", "/a"],
  ["HTTPS://host:1/a/x", "/a/{id}", { id: "x" }],
  ["/a/", "/a/{id}", { id: "" }],
  ["/a/x%2Fy%20%25", "/a/{id}", { id: "x/y %" }],
  ["/a/..", "/a/{id}", { id: ".." }],
  ["/a/literal", "/a/{id}", { id: "literal" }],
  ["/a/literal/c", "/a/{id}/c", { id: "literal" }],
  ["/a/literal/d", "/a/literal/d"],
  ["/m/x/y%2Fz", "/m/{+rest}", { rest: "x/y/z" }],
  ["/m/", "/m/{+rest}", { rest: "" }],
  ["/m/" + "x".repeat(2000), "/m/{+rest}", { rest: "x".repeat(2000) }],
  ["/t/x/values", "/t/{+tag}/values", { tag: "x" }],
  ["/t/a/b%2Fc/values/values?q=1", "/t/{+tag}/values", { tag: "a/b/c/values" }],
  ["/t//values", "/t/{+tag}/values", { tag: "" }],
  ["/t/values", undefined],
  ["/t/x", undefined],
  ["/t/x/values/", undefined],
  ["/A", undefined],
  ["/a/x/", undefined],
  ["//a", undefined],
  ["/a%2Fx", undefined],
  ["/a/literal/e", undefined],
  ["*", undefined],
  ["", undefined],
  ["ftp://host/a", undefined],
  ["http://host", undefined],
];
for (const [target, pattern, parameters = {}] of found) {
  test(`${target.slice(0, 40)} finds ${pattern ?? "nothing"}`, () => {
    const match = router.find(target);
    assert.deepEqual(match, pattern === undefined ? undefined : { value: pattern, parameters });
  });
}

test("a path that is not a valid URL is refused, even if nothing is registered", () => {
  for (const target of ["/a/%zz", "/%", "/nothing/%C3"]) {
    assert.throws(() => router.find(target), { code: "invalid_request", message: /is not a valid URL/ });
  }
});

test("a parameter may have 1024 characters", () => {
  assert.equal(router.find(`/a/${"é".repeat(1024)}`)?.parameters["id"]?.length, 1024);
  assert.throws(() => router.find(`/a/${"é".repeat(1025)}`), {
    code: "invalid_request",
    param: "id",
    message: "id in the path has 1025 characters; at most 1024 are allowed.",
  });
});

test("two names for one segment are refused", () => {
  assert.throws(() => router.add("/a/{name}/e", ""), /\{id\} and \{name\}/);
});
