import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveConfig } from "./load-config.ts";

function resolved(url: string) {
  return resolveConfig({ file: undefined, env: { SOUNDING_CLICKHOUSE_URL: url } });
}

test("one address, or several separated by commas, are accepted", () => {
  assert.deepEqual(resolved("http://a:8123").problems, []);
  assert.deepEqual(resolved("http://a:8123, https://b:8443/path").config?.telemetry.clickhouse.url, [
    "http://a:8123",
    "https://b:8443/path",
  ]);
});

test("an address that is listed twice, is no URL, or is one too many is a problem that says so", () => {
  for (const [url, expected] of [
    ["http://a:8123,http://A:8123/", /has the same address twice: "http:\/\/a:8123" and "http:\/\/A:8123\/"; remove/],
    ["http://a:99999", /"http:\/\/a:99999", which is not a URL/],
    ["a:8123", /it must be .* or a list of 1 to 16, each item an address/],
    [Array.from({ length: 17 }, (_, index) => `http://a${index}`).join(","), /a list of 1 to 16/],
  ] as const) {
    const [problem, ...others] = resolved(url).problems;
    assert.match(problem?.message ?? "", expected, url);
    assert.deepEqual(others, [], url);
  }
});

test("a storage policy needs a server, and an age of cold rows a policy", () => {
  const problemsOf = (env: Record<string, string>) =>
    resolveConfig({ file: undefined, env }).problems.map(({ message }) => message);
  const policy = { SOUNDING_CLICKHOUSE_STORAGE_POLICY: "tiered" };
  const age = { SOUNDING_CLICKHOUSE_COLD_AFTER_DAYS: "7" };
  const url = { SOUNDING_CLICKHOUSE_URL: "http://a:8123" };
  assert.deepEqual(problemsOf({ ...url, ...policy, ...age }), []);
  assert.match(problemsOf(policy).join(), /storage_policy is set, but telemetry\.clickhouse\.url is not; the embedded/);
  assert.match(problemsOf({ ...url, ...age }).join(), /cold_after_days is set, but .*storage_policy is not/);
  assert.match(
    problemsOf({ ...url, SOUNDING_CLICKHOUSE_STORAGE_POLICY: "x' y" }).join(),
    /it must be text that matches/,
  );
});
