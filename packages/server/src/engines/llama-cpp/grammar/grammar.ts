/**
 * Defines grammars over bytes, which constrain the tokens that a model may choose.
 * Recursion goes through `reference`. Unlike llama.cpp's GBNF it counts repetitions instead of unrolling them, so
 * `maxLength: 100000` costs nothing, and tokens that end inside a UTF-8 character need no special care.
 * docs/adr/0011-llama-cpp.md
 */

export type Grammar =
  | { readonly kind: "byte"; readonly allowed: Uint8Array }
  | { readonly kind: "sequence"; readonly items: readonly Grammar[] }
  | { readonly kind: "choice"; readonly items: readonly Grammar[] }
  | { readonly kind: "repeat"; readonly item: Grammar; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "reference"; readonly resolve: () => Grammar };

export const nothing: Grammar = { kind: "sequence", items: [] };

const byteRanges = new Map<number, Grammar>();

/** One byte within the inclusive range. Made once for all that use it. */
export function byteRange(low: number, high: number): Grammar {
  const key = low * 256 + high;
  let range = byteRanges.get(key);
  if (range === undefined) {
    byteRanges.set(key, (range = { kind: "byte", allowed: new Uint8Array(256).fill(1, low, high + 1) }));
  }
  return range;
}

/** One of these ASCII characters. */
export function anyByteOf(characters: string): Grammar {
  const allowed = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) allowed[byte] = 1;
  return { kind: "byte", allowed };
}

/** Exactly this text, in UTF-8. */
export function literal(text: string): Grammar {
  return sequence(...Array.from(Buffer.from(text), (byte) => byteRange(byte, byte)));
}

export function sequence(...items: readonly Grammar[]): Grammar {
  const needed = items.filter((item) => item !== nothing);
  if (needed.length === 0) return nothing;
  return needed.length === 1 ? needed[0]! : { kind: "sequence", items: needed };
}

/** One of the items; of none, no text matches. */
export function choice(...items: readonly Grammar[]): Grammar {
  // The same schema named ten times is one alternative, not ten.
  const different = [...new Set(items)];
  return different.length === 1 ? different[0]! : { kind: "choice", items: different };
}

/** The item `minimum` to `maximum` times; `Infinity` for no maximum. */
export function repeat(item: Grammar, minimum: number, maximum: number = Infinity): Grammar {
  return { kind: "repeat", item, minimum, maximum };
}

export function optional(item: Grammar): Grammar {
  return choice(item, nothing);
}

/** A grammar that is looked up when it is reached, for recursion. */
export function reference(resolve: () => Grammar): Grammar {
  return { kind: "reference", resolve };
}

/** `item (separator item)*` with `minimum` to `maximum` items. */
export function separated(item: Grammar, separator: Grammar, minimum: number, maximum: number): Grammar {
  if (maximum === 0) return nothing;
  const further = repeat(sequence(separator, item), Math.max(0, minimum - 1), maximum - 1);
  const some = sequence(item, further);
  return minimum === 0 ? optional(some) : some;
}
