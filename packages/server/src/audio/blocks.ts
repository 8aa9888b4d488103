/** Divides samples into blocks of one length, so that what is made of them does not depend on how they arrive. */

/** The same samples in blocks of this many; the last may be shorter. */
export async function* inBlocks(
  source: AsyncIterable<Float32Array>,
  blockSamples: number,
): AsyncGenerator<Float32Array<ArrayBuffer>, void, undefined> {
  let block = new Float32Array(blockSamples);
  let filled = 0;
  for await (const piece of source) {
    for (let start = 0; start < piece.length;) {
      const part = piece.subarray(start, start + blockSamples - filled);
      block.set(part, filled);
      filled += part.length;
      start += part.length;
      if (filled < blockSamples) continue;
      yield block;
      block = new Float32Array(blockSamples);
      filled = 0;
    }
  }
  if (filled > 0) yield block.slice(0, filled);
}
