import assert from "node:assert/strict";
import { test } from "node:test";
import { createClientAddress } from "./client-address.ts";

function addressOf(trusted: readonly string[], remoteAddress: string, forwarded?: string): string | undefined {
  return createClientAddress(trusted)(
    { remoteAddress },
    forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  );
}

const cases: [name: string, trusted: string[], remote: string, forwarded: string | undefined, client: string][] = [
  ["without trusted proxies it is the connection's", [], "10.0.0.1", "1.2.3.4", "10.0.0.1"],
  ["of an untrusted connection it is the connection's", ["10.0.0.1"], "10.0.0.2", "1.2.3.4", "10.0.0.2"],
  ["of a trusted proxy it is the last one reported", ["10.0.0.1"], "10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"],
  ["of a chain it is the last untrusted one", ["10.0.0.0/8"], "10.0.0.1", "6.6.6.6,1.2.3.4 , 10.9.9.9", "1.2.3.4"],
  ["where all are trusted it is the first one", ["uniquelocal"], "10.0.0.1", "192.168.1.1, 172.16.0.1", "192.168.1.1"],
  ["without a header it is the proxy's", ["loopback"], "127.0.0.1", undefined, "127.0.0.1"],
  ["with an empty header it is the proxy's", ["loopback"], "::1", " , ", "::1"],
  ["an IPv4 proxy on an IPv6 socket is trusted", ["10.0.0.0/8"], "::ffff:10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ["an IPv6 range is trusted", ["linklocal"], "fe80::1", "2001:db8::1", "2001:db8::1"],
  ["text that is no address ends the chain", ["0.0.0.0/1"], "10.0.0.1", "1.2.3.4, unknown", "10.0.0.1"],
  ["an IPv4 client of an IPv6 socket has an IPv4 address", [], "::ffff:10.0.0.1", undefined, "10.0.0.1"],
  ["a port that the proxy appended is not part of it", ["loopback"], "127.0.0.1", "1.2.3.4:5678", "1.2.3.4"],
  ["nor is the port after an IPv6 address", ["loopback"], "::1", "[2001:db8::1]:5678", "2001:db8::1"],
];
for (const [name, trusted, remote, forwarded, client] of cases) {
  test(name, () => assert.equal(addressOf(trusted, remote, forwarded), client));
}
