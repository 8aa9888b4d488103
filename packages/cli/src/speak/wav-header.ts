/** Writes the header of a WAV file with 16-bit mono samples. http://soundfile.sapp.org/doc/WaveFormat/ */

const headerBytes = 44;

/** Placeholder for a size that is unknown, or too large for 32 bits. */
const unknownSize = 0xffff_ffff;

/** @param dataBytes undefined while it is not known */
export function wavHeader(sampleRate: number, dataBytes?: number): Uint8Array {
  const restBytes = headerBytes - 8;
  const fits = dataBytes !== undefined && dataBytes + restBytes < unknownSize;
  const bytes = Buffer.alloc(headerBytes);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(fits ? dataBytes + restBytes : unknownSize, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  // PCM, mono, bytes per second, bytes per sample, bits per sample.
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(sampleRate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(fits ? dataBytes : unknownSize, 40);
  return bytes;
}
