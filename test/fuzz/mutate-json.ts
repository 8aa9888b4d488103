/** Mutates JSON: random values, and the text for what values cannot express (duplicate members, huge numbers). */
import { hostileNumber, hostileString, hostileValue, nested } from "./hostile-values.ts";
import type { Random } from "./random.ts";

type Container = Record<string, unknown> | unknown[];

interface Place {
  readonly container: Container;
  readonly key: string | number;
}

function placesOf(value: unknown, found: Place[] = [], depth = 0): Place[] {
  if (typeof value !== "object" || value === null || depth > 12 || found.length > 500) return found;
  for (const key of Object.keys(value)) {
    const container = value as Container;
    found.push({ container, key: Array.isArray(container) ? Number(key) : key });
    placesOf((container as Record<string, unknown>)[key], found, depth + 1);
  }
  return found;
}

const read = ({ container, key }: Place): unknown => (container as Record<string | number, unknown>)[key];
const write = ({ container, key }: Place, value: unknown): void => {
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
};

/** The value with this many changes; the argument is not modified. */
export function mutateJson(value: unknown, random: Random, changes: number): unknown {
  const root: Record<string, unknown> = { root: structuredClone(value) };
  for (let change = 0; change < changes; change += 1) changeOnce(root, random);
  return root["root"] ?? null;
}

function changeOnce(root: Record<string, unknown>, random: Random): void {
  const places = placesOf(root);
  // An earlier change may have removed everything.
  if (places.length === 0) root["root"] = null;
  const place: Place = places.length === 0 ? { container: root, key: "root" } : random.pick(places);
  const old = read(place);
  switch (random.below(12)) {
    case 0:
      if (Array.isArray(place.container)) place.container.splice(Number(place.key), 1);
      else delete place.container[place.key];
      break;
    case 1:
      write(place, hostileString(random, random.chance(0.05) ? 200_000 : 4096));
      break;
    case 2:
      write(place, hostileNumber(random));
      break;
    case 3:
      write(place, nested(random, random.chance(0.2) ? random.between(450, 700) : random.between(1, 60)));
      break;
    case 4: {
      // Copies of copies would grow without bound.
      const isLeaf = typeof old !== "object";
      const copies = isLeaf && random.chance(0.1) ? random.between(100, 5000) : random.between(2, isLeaf ? 20 : 6);
      write(
        place,
        Array.from({ length: copies }, () => old),
      );
      break;
    }
    case 5:
      write(place, [old]);
      break;
    case 6:
      write(place, { [hostileString(random, 64)]: old });
      break;
    case 7: {
      const target = typeof old === "object" && old !== null && !Array.isArray(old) ? old : root;
      const members = random.chance(0.1) ? random.between(100, 3000) : 1;
      for (let index = 0; index < members; index += 1) {
        write({ container: target as Container, key: hostileString(random, 64) + index }, hostileValue(random, 1));
      }
      break;
    }
    case 8:
      if (typeof old === "string")
        write(place, old.slice(0, random.below(old.length + 1)) + hostileString(random, 256));
      else write(place, JSON.stringify(old ?? null).slice(0, 1000));
      break;
    case 9:
      if (typeof old === "number") write(place, old * random.pick([-1, 0, 10, 1e6, 1.5]));
      else write(place, typeof old === "boolean" ? !old : null);
      break;
    default:
      write(place, hostileValue(random));
  }
}

const literals = [
  "1e400",
  "-0",
  "1E+2",
  "00",
  "NaN",
  "Infinity",
  "'x'",
  '"\\ud800"',
  '"\\u0000"',
  "9".repeat(400),
  "tru",
];

/** The value as text, mostly valid JSON; sometimes with a duplicate member, an odd literal, or damage. */
export function jsonText(value: unknown, random: Random): string {
  let text = JSON.stringify(value) ?? "null";
  if (random.chance(0.06))
    text = text.replace(
      /"(\w+)":/,
      (member, name: string) => `"${name}":${JSON.stringify(hostileValue(random, 1))},${member}`,
    );
  if (random.chance(0.04)) text = text.replace(/(?<=:)(?:\d+|true|false|null|"\w*")/, () => random.pick(literals));
  if (random.chance(0.03)) text = text.slice(0, random.below(text.length + 1));
  if (random.chance(0.02)) text = random.pick(["\uFEFF", " ".repeat(1000), "[", "\0", "//", ")]}',\n"]) + text;
  if (random.chance(0.02)) text += random.pick(["\0", "}", " ".repeat(100_000), text]);
  return text;
}
