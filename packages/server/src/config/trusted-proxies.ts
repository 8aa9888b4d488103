/** Checks `server.trusted_proxies`; the HTTP server relies on this check. */
import { isIPv4, isIPv6 } from "node:net";
import { formatPath, formatValue, type SettingPath } from "./problem.ts";
import { isObject } from "../json-object.ts";

const namedRanges = ["loopback", "linklocal", "uniquelocal"];

/** @param config the resolved configuration, possibly invalid */
export function checkTrustedProxies(config: unknown, report: (path: SettingPath, message: string) => void): void {
  const server = isObject(config) ? config["server"] : undefined;
  const proxies = isObject(server) ? server["trusted_proxies"] : undefined;
  if (!Array.isArray(proxies)) return;
  for (const [index, proxy] of proxies.entries()) {
    if (typeof proxy !== "string" || isRange(proxy)) continue;
    const path = ["server", "trusted_proxies", index];
    report(
      path,
      `${formatPath(path)} is ${formatValue(proxy)}; it must be an IP address such as 10.0.0.1, a CIDR range such as 10.0.0.0/8 or fd00::/8, or one of ${namedRanges.join(", ")}.`,
    );
  }
}

function isRange(text: string): boolean {
  if (namedRanges.includes(text)) return true;
  const [address = "", range, ...rest] = text.split("/");
  // A zone such as %eth0 belongs to one machine, not to an address.
  if (rest.length > 0 || address.includes("%") || !(isIPv4(address) || isIPv6(address))) return false;
  if (range === undefined) return true;
  return /^\d{1,3}$/.test(range) && Number(range) >= 1 && Number(range) <= (isIPv4(address) ? 32 : 128);
}
