/**
 * IP addresses, networks and ranges, with the strictness of Go's net/netip: no leading zeros, and an IPv4 address in IPv6
 * notation is an IPv6 address.
 */

export interface Address {
  readonly version: 4 | 6;
  readonly bits: bigint;
}

/** An address in the notation of IPv4 or IPv6; undefined for any other text. */
export function parseAddress(text: string): Address | undefined {
  if (text.includes(":")) {
    const bits = parseVersion6(text);
    return bits === undefined ? undefined : { version: 6, bits };
  }
  const bits = parseVersion4(text);
  return bits === undefined ? undefined : { version: 4, bits: BigInt(bits) };
}

const decimalByte = /^(?:0|[1-9]\d{0,2})$/;

function parseVersion4(text: string): number | undefined {
  if (text.length > 15) return undefined;
  const fields = text.split(".");
  if (fields.length !== 4) return undefined;
  let bits = 0;
  for (const field of fields) {
    if (!decimalByte.test(field) || Number(field) > 255) return undefined;
    bits = bits * 256 + Number(field);
  }
  return bits;
}

const longestVersion6 = "0000:0000:0000:0000:0000:ffff:255.255.255.255".length;

function parseVersion6(text: string): bigint | undefined {
  if (text.length > longestVersion6) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const groups = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  const [high, low] = groups;
  if (high === undefined || (halves.length === 2 && low === undefined)) return undefined;
  const missing = 8 - high.length - (low?.length ?? 0);
  // `::` stands for at least one group.
  if (low === undefined ? missing !== 0 : missing < 1) return undefined;
  const all = [...high, ...Array.from<number>({ length: low === undefined ? 0 : missing }).fill(0), ...(low ?? [])];
  return all.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n);
}

/** Groups of 16 bits; the last two may be written as an IPv4 address. */
function parseGroups(text: string, isLast: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const fields = text.split(":");
  for (const [index, field] of fields.entries()) {
    if (isLast && index === fields.length - 1 && field.includes(".")) {
      const bits = parseVersion4(field);
      if (bits === undefined) return undefined;
      groups.push(Math.floor(bits / 65_536), bits % 65_536);
    } else if (/^[\da-fA-F]{1,4}$/.test(field)) {
      groups.push(Number.parseInt(field, 16));
    } else {
      return undefined;
    }
  }
  return groups;
}

/** The addresses from the first to the last one. */
export interface AddressRange {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/** `192.168.0.1`, `192.168.0.0/16` or `192.168.0.1-192.168.0.9`; undefined for any other text. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const single = parseAddress(text);
  if (single !== undefined) return { version: single.version, first: single.bits, last: single.bits };
  const slash = text.lastIndexOf("/");
  if (slash !== -1) return parseNetwork(text.slice(0, slash), text.slice(slash + 1));
  const hyphen = text.indexOf("-");
  if (hyphen === -1) return undefined;
  const first = parseAddress(text.slice(0, hyphen));
  const last = parseAddress(text.slice(hyphen + 1));
  if (first === undefined || first.version !== last?.version || first.bits > last.bits) return undefined;
  return { version: first.version, first: first.bits, last: last.bits };
}

function parseNetwork(base: string, length: string): AddressRange | undefined {
  const address = parseAddress(base);
  if (address === undefined || !decimalByte.test(length)) return undefined;
  const width = address.version === 4 ? 32 : 128;
  if (Number(length) > width) return undefined;
  const free = (1n << BigInt(width - Number(length))) - 1n;
  return { version: address.version, first: address.bits & ~free, last: address.bits | free };
}

export function isInRange({ first, last, version }: AddressRange, address: Address): boolean {
  return address.version === version && address.bits >= first && address.bits <= last;
}
