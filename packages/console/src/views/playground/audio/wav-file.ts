/** Writes a WAV file of 16-bit mono samples, and mixes and converts samples for it. */

/** @param samples in the byte order of the machine, which is little-endian wherever browsers run */
export function wavFile(samples: Int16Array<ArrayBuffer>, sampleRate: number): [ArrayBuffer, Int16Array<ArrayBuffer>] {
  const header = new DataView(new ArrayBuffer(44));
  const bytes = samples.byteLength;
  const ascii = (at: number, text: string): void => {
    for (let index = 0; index < text.length; index += 1) header.setUint8(at + index, text.charCodeAt(index));
  };
  ascii(0, "RIFF");
  header.setUint32(4, 36 + bytes, true);
  ascii(8, "WAVEfmt ");
  header.setUint32(16, 16, true);
  header.setUint16(20, 1, true);
  header.setUint16(22, 1, true);
  header.setUint32(24, sampleRate, true);
  header.setUint32(28, sampleRate * 2, true);
  header.setUint16(32, 2, true);
  header.setUint16(34, 16, true);
  ascii(36, "data");
  header.setUint32(40, bytes, true);
  return [header.buffer, samples];
}

/** The mean of the channels, as 16-bit samples. */
export function mixToInt16(channels: readonly Float32Array[]): Int16Array<ArrayBuffer> {
  const length = channels[0]?.length ?? 0;
  const mixed = new Int16Array(length);
  for (let index = 0; index < length; index += 1) {
    let sum = 0;
    for (const channel of channels) sum += channel[index]!;
    mixed[index] = Math.max(-1, Math.min(1, sum / channels.length)) * 32_767;
  }
  return mixed;
}
