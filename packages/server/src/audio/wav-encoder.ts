/**
 * Writes WAV files: RIFF, 16-bit PCM, one channel.
 * https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html
 */
import { audioContentTypes, type Encoder } from "./encoder.ts";
import { joinBytes, toInt16Bytes } from "./samples.ts";

const headerBytes = 44;
const unknownSize = 0xffff_ffff;

/**
 * The 44 bytes before the samples. `dataBytes` is null for a stream whose length is not known yet; its sizes are then
 * 0xFFFFFFFF, which players read as "until the end". So are sizes that 32 bits cannot hold.
 */
export function wavHeader(sampleRate: number, dataBytes: number | null): Uint8Array<ArrayBuffer> {
  const known = dataBytes !== null && dataBytes + headerBytes - 8 < unknownSize;
  const header = Buffer.from(new ArrayBuffer(headerBytes));
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(known ? dataBytes + headerBytes - 8 : unknownSize, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // channels
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32); // bytes of one sample
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(known ? dataBytes : unknownSize, 40);
  return new Uint8Array(header);
}

/** The samples as one WAV file, 16-bit mono. */
export function encodeWav(samples: Float32Array, sampleRate: number): Uint8Array {
  const data = toInt16Bytes(samples);
  return joinBytes([wavHeader(sampleRate, data.length), data]);
}

/** An encoder to WAV, 16-bit mono. A stream's header has no sizes; a whole file has the true ones. */
export function createWavEncoder(sampleRate: number, stream: boolean): Encoder {
  return stream ? streamedWav(sampleRate) : wholeWav(sampleRate);
}

function streamedWav(sampleRate: number): Encoder {
  let started = false;
  const start = (): Uint8Array => {
    if (started) return new Uint8Array(0);
    started = true;
    return wavHeader(sampleRate, null);
  };
  return {
    contentType: audioContentTypes.wav,
    delaySeconds: 0,
    push: (samples) => joinBytes([start(), toInt16Bytes(samples)]),
    end: start,
  };
}

function wholeWav(sampleRate: number): Encoder {
  const pieces: Uint8Array[] = [];
  return {
    contentType: audioContentTypes.wav,
    delaySeconds: 0,
    push(samples) {
      pieces.push(toInt16Bytes(samples));
      return new Uint8Array(0);
    },
    end() {
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      return joinBytes([wavHeader(sampleRate, length), ...pieces]);
    },
  };
}
