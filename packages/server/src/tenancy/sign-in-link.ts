/** The link with which a person signs in to the web console with a code. */
import { BlockList, isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { RequestOrigin } from "../http/request-origin.ts";

/** Addresses of this server, for links to its console. */
export interface ServerAddress {
  /** The setting `server.public_url`. */
  readonly publicUrl: string | undefined;
  /** The address that it listens on. */
  readonly url: string;
}

/** The code is in the fragment, which browsers send to no server and no proxy. */
export function signInLink(code: string, origin: RequestOrigin, address: ServerAddress): string {
  return `${publicAddress(origin, address)}/console/sign-in#code=${code}`;
}

/** The address under which the client's person reaches this server, without a slash at its end. */
export function publicAddress(origin: RequestOrigin, { publicUrl, url }: ServerAddress): string {
  return (publicUrl ?? requestedAddress(origin) ?? url).replace(/\/+$/, "");
}

/** Undefined if the name may be anybody's: a link to another site would hand it the code. */
function requestedAddress({ secure, host, isReported }: RequestOrigin): string | undefined {
  const text = `${secure ? "https" : "http"}://${host}`;
  if (!URL.canParse(text)) return undefined;
  const parsed = new URL(text);
  // Whatever else is in it, such as a user or a path, is no host.
  if (parsed.host !== host.toLowerCase()) return undefined;
  return isReported || isOwnName(parsed.hostname) ? text : undefined;
}

function isOwnName(name: string): boolean {
  const own = hostname().toLowerCase();
  const isLocal = name === "localhost" || name.endsWith(".localhost") || name === own || name === `${own}.local`;
  return isLocal || isNearAddress(name.replaceAll(/^\[|\]$/g, ""));
}

/** Addresses that nobody far away can have: of loopback and of private networks, such as a container's host. */
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
] as const)
  privateNetworks.addSubnet(network, prefix, "ipv4");
privateNetworks.addAddress("::1", "ipv6");
privateNetworks.addSubnet("fc00::", 7, "ipv6");
privateNetworks.addSubnet("fe80::", 10, "ipv6");

function isNearAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  if (privateNetworks.check(address, version === 6 ? "ipv6" : "ipv4")) return true;
  return Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === address) === true);
}
