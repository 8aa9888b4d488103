/** The address of a request's client: the connection's, or what trusted proxies report in X-Forwarded-For. */
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP, isIPv6 } from "node:net";

/** Names that stand for ranges in `server.trusted_proxies`. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/** @returns an IP address; undefined once the connection is closed, if it was not read before */
export type ClientAddressOf = (
  connection: { readonly remoteAddress?: string | undefined } | undefined,
  headers: IncomingHttpHeaders,
) => string | undefined;

/** @param trustedProxies addresses, CIDR ranges and names of ranges, checked by `config/trusted-proxies.ts` */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddressOf {
  if (trustedProxies.length === 0) return (connection) => unmapped(connection?.remoteAddress);
  const trusts = createTrusts(trustedProxies);

  return (connection, headers) => {
    let client = unmapped(connection?.remoteAddress);
    const forwarded = headers["x-forwarded-for"];
    const reported = (Array.isArray(forwarded) ? forwarded.join(",") : (forwarded ?? "")).split(",");
    // Each proxy appends the address that it sees, so the last address that no trusted proxy has is the client's.
    for (const text of reported.reverse()) {
      if (client === undefined || !trusts(client)) return client;
      if (text.trim() === "") continue;
      const address = addressIn(text.trim());
      if (address === undefined) return client;
      client = address;
    }
    return client;
  };
}

/** Whether an address is a trusted proxy's. */
export function createTrusts(trustedProxies: readonly string[]): (address: string | undefined) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const trusted = new BlockList();
  for (const range of trustedProxies.flatMap((proxy) => namedRanges[proxy] ?? [proxy])) {
    const [address = "", prefix] = range.split("/");
    if (prefix === undefined) trusted.addAddress(address, familyOf(address));
    else trusted.addSubnet(address, Number(prefix), familyOf(address));
  }
  return (address) => {
    const client = unmapped(address);
    return client !== undefined && trusted.check(client, familyOf(client));
  };
}

/** The address, or its /64 network for IPv6, since one client may use every address of a /64. */
export function clientNetwork(address: string): string {
  const client = unmapped(address) ?? "";
  if (!isIPv6(client)) return client;
  const [head = "", tail] = client.split("%", 1)[0]!.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0");
  return [...first, ...zeros, ...last].slice(0, 4).join(":");
}

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressIn(text: string): string | undefined {
  const address =
    /^\[(?<v6>[^\]]+)\](?::\d+)?$/.exec(text)?.groups?.["v6"] ??
    /^(?<v4>[\d.]+):\d+$/.exec(text)?.groups?.["v4"] ??
    text;
  return isIP(address) === 0 ? undefined : unmapped(address);
}

/** An IPv4 client on a socket for IPv6 has an IPv4 address. */
function unmapped(address: string | undefined): string | undefined {
  return /^::ffff:(?<v4>\d+\.\d+\.\d+\.\d+)$/i.exec(address ?? "")?.groups?.["v4"] ?? address;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
