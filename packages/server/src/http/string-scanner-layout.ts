/** Offsets in the memory of the WebAssembly that scans strings; shared with the script that assembles it. */

/** Where a scan leaves its results, as 32-bit integers. */
export const resultBytes = { escapes: 0, isDamaged: 4, isAscii: 8 } as const;
/** Where the text begins. */
export const textStart = 64;
/** The longest text in memory. */
export const longestTextBytes = 131_072;
/** A scan reads so many bytes past a block: those of `\\u0000` after its `u`, and the byte that ends it. */
export const readPastBlock = 5;
