/** Strings, numbers and JSON values that programs tend to mishandle. */
import type { Random } from "./random.ts";

const hostileStrings = [
  "",
  " ",
  "\0",
  "a\0b",
  "\r\nx-injected: 1",
  "\u202Eevil\u202C",
  "\u200B\u2060\uFEFF",
  "\uD800",
  "\uDC00x",
  "é\u0301\u0301\u0301",
  "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "İıſßﬃ",
  "null",
  "undefined",
  "NaN",
  "-1",
  "1e309",
  "0x10",
  "9007199254740993",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "toString",
  "../../../../etc/passwd",
  "..%2f..%2f",
  "%",
  "%zz",
  "%00",
  "' OR '1'='1",
  "'; DROP TABLE spans; --",
  "\\",
  "\\'",
  "`${process.exit()}`",
  "{{constructor}}",
  "{{ [].__class__ }}",
  "<script>alert(1)</script>",
  "$(reboot)",
  "(a+)+$",
  "^(((a?){100}){100}){100}$",
  "a{1000}a{1000}",
  "[",
  "(?=x)",
  ".*".repeat(50),
  "sk-0123456789abcdef0123456789abcdef",
  "1970-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "http://169.254.169.254/",
  "data:text/plain;base64,AAAA",
] as const;

const letters = "abcXYZ019 _-./:%&=?#\"'\\\n\t{}[](),;é世\u{1F600}\u202E\0";

export function hostileString(random: Random, longest = 4096): string {
  const kind = random.below(10);
  if (kind < 5) return random.pick(hostileStrings);
  if (kind < 8) {
    const characters = Array.from(letters);
    return Array.from({ length: random.size(64) }, () => random.pick(characters)).join("");
  }
  if (kind === 8)
    return random.pick(["a", "\u{1F4A9}", "\0", "\\", '"', "é", "(", "[", "{", " "]).repeat(random.size(longest));
  return String.fromCharCode(...Array.from({ length: random.size(40) }, () => random.below(0x10000)));
}

const hostileNumbers = [
  0,
  -0,
  1,
  -1,
  0.5,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  1e21,
  1e308,
  -1e308,
  5e-324,
  Number.MAX_SAFE_INTEGER + 2,
] as const;

export function hostileNumber(random: Random): number {
  if (random.chance(0.6)) return random.pick(hostileNumbers);
  return random.chance(0.5) ? random.between(-1000, 100_000) : random.uint32() / random.between(1, 1000);
}

/** Any JSON value; nested up to `depth`. */
export function hostileValue(random: Random, depth = 3): unknown {
  switch (random.below(depth > 0 ? 10 : 6)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return hostileNumber(random);
    case 3:
    case 4:
    case 5:
      return hostileString(random);
    case 6:
    case 7:
      return Array.from({ length: random.size(8) }, () => hostileValue(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.size(6) }, () => [hostileString(random, 64), hostileValue(random, depth - 1)]),
      );
  }
}

/** `levels` nested lists or objects. */
export function nested(random: Random, levels: number): unknown {
  let value: unknown = random.chance(0.5) ? 1 : "x";
  const asList = random.chance(0.5);
  for (let level = 0; level < levels; level += 1) value = asList ? [value] : { a: value };
  return value;
}
