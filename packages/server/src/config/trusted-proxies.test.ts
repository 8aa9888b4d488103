import assert from "node:assert/strict";
import { test } from "node:test";
import { createClientAddress } from "../http/client-address.ts";
import { checkTrustedProxies } from "./trusted-proxies.ts";

function problemsOf(proxies: readonly string[]): string[] {
  const problems: string[] = [];
  checkTrustedProxies({ server: { trusted_proxies: proxies } }, (_path, message) => problems.push(message));
  return problems;
}

test("addresses, ranges and names that the HTTP server supports are accepted", () => {
  const proxies = [
    "10.0.0.1",
    "10.0.0.0/8",
    "::1",
    "fd00::/8",
    "::ffff:10.0.0.1",
    "loopback",
    "uniquelocal",
    "0.0.0.0/1",
  ];
  assert.deepEqual(problemsOf(proxies), []);
  assert.doesNotThrow(() => createClientAddress(proxies));
});

test("anything else is a problem that names the setting, the value and what is allowed", () => {
  for (const wrong of [
    "nonsense",
    "10.0.0",
    "10.0.0.0/33",
    "10.0.0.0/0",
    "10.0.0.0/",
    "fd00::/129",
    "a/b/c",
    "fe80::1%eth0",
    "",
  ]) {
    const [problem = ""] = problemsOf(["10.0.0.1", wrong]);
    assert.match(problem, /^server\.trusted_proxies\[1\] is ".*"; it must be an IP address/, wrong);
  }
});
