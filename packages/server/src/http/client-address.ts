/** The address of a request's client: the connection's, or what trusted proxies report in X-Forwarded-For. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv6 } from "node:net";

/** Names that stand for ranges in `server.trusted_proxies`. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

export type ClientAddressOf = (request: IncomingMessage) => string | undefined;

/** @param trustedProxies addresses, CIDR ranges and names of ranges, checked by `config/trusted-proxies.ts` */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddressOf {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress;
  const trusted = new BlockList();
  for (const range of trustedProxies.flatMap((proxy) => namedRanges[proxy] ?? [proxy])) {
    const [address = "", prefix] = range.split("/");
    if (prefix === undefined) trusted.addAddress(address, familyOf(address));
    else trusted.addSubnet(address, Number(prefix), familyOf(address));
  }
  const isTrusted = (address: string): boolean => isIP(address) !== 0 && trusted.check(address, familyOf(address));

  return ({ socket, headers }) => {
    let client = socket.remoteAddress;
    const forwarded = headers["x-forwarded-for"];
    const reported = (Array.isArray(forwarded) ? forwarded.join(",") : (forwarded ?? "")).split(",");
    // Each proxy appends the address that it sees, so the last address that no trusted proxy has is the client's.
    for (const address of reported.reverse()) {
      if (client === undefined || !isTrusted(client)) return client;
      client = address.trim() === "" ? client : address.trim();
    }
    return client;
  };
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
