/** Estimates the length of a WAV file from its header, for a progress bar. */

/**
 * @returns undefined if it does not start like a WAV file
 * @param sizeBytes of the whole file
 */
export function wavSeconds(head: Uint8Array, sizeBytes: number): number | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const tag = (offset: number): string => new TextDecoder("latin1").decode(head.subarray(offset, offset + 4));
  if (tag(0) !== "RIFF" || tag(8) !== "WAVE") return undefined;
  let bytesPerSecond: number | undefined;
  for (let offset = 12; offset + 8 <= head.length;) {
    const size = view.getUint32(offset + 4, true);
    if (tag(offset) === "fmt " && offset + 20 <= head.length) bytesPerSecond = view.getUint32(offset + 16, true);
    if (tag(offset) === "data") {
      const dataBytes = Math.min(size, Math.max(0, sizeBytes - offset - 8));
      return bytesPerSecond === undefined || bytesPerSecond === 0 ? undefined : dataBytes / bytesPerSecond;
    }
    offset += 8 + size + (size % 2);
  }
  return undefined;
}
