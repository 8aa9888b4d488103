/**
 * Encodes Ogg Opus with libopus as WebAssembly (`@evan/opus`), in pages from `ogg-pages.ts`.
 * https://www.rfc-editor.org/rfc/rfc7845
 */
import { Encoder as LibOpusEncoder } from "@evan/opus/wasm/index.mjs";
import { randomInt } from "node:crypto";

import type { Encoder } from "./encoder.ts";
import { createPageWriter, fitsIntoPage, segmentsOf } from "./ogg-pages.ts";
import { createResampler } from "./resampler.ts";
import { joinBytes, joinSamples, toInt16 } from "./samples.ts";

/** The rates that libopus supports, each with its bitrate in bit/s for one voice. */
const bitrates: ReadonlyMap<number, number> = new Map([
  [8000, 32_000],
  [12_000, 32_000],
  [16_000, 40_000],
  [24_000, 48_000],
  [48_000, 64_000],
]);
/** Positions in the file count samples at this rate, for any input rate. */
const opusRate = 48_000;
const framesPerSecond = 50;
/** Packets of 20 ms in a page, at most: a page at least every second. */
const pagePackets = 50;

/** https://opus-codec.org/docs/opus_api-1.5/group__opus__encoderctls.html */
const control = { setBitrate: 4002, getLookahead: 4027 };

const codecRateOf = (sampleRate: number): number => (bitrates.has(sampleRate) ? sampleRate : opusRate);

/** In bit/s, for samples at this rate. */
export function opusBitrate(sampleRate: number): number {
  return bitrates.get(codecRateOf(sampleRate))!;
}

/**
 * A streaming encoder: every push returns the pages that are complete. Samples at a rate that libopus does not support are
 * resampled to 48 000 Hz; the header gives `sampleRate` as the original rate.
 */
export async function createOpusEncoder(sampleRate: number): Promise<Encoder> {
  const codecRate = codecRateOf(sampleRate);
  const resampler = await createResampler(sampleRate, codecRate);
  const codec = new LibOpusEncoder({ channels: 1, sample_rate: codecRate, application: "audio" });
  codec.ctl(control.setBitrate, opusBitrate(sampleRate));
  const frameLength = codecRate / framesPerSecond;
  const lookahead = codec.ctl(control.getLookahead);
  const toOpusRate = opusRate / codecRate;
  const preSkip = lookahead * toOpusRate;

  const writePage = createPageWriter(randomInt(2 ** 32));
  let headersDue = true;
  let waiting: Float32Array = new Float32Array(0);
  let sampleCount = 0;
  let frameCount = 0;

  const headers = (): Uint8Array[] => {
    if (!headersDue) return [];
    headersDue = false;
    return [
      writePage({ packets: [opusHead(preSkip, sampleRate)], granulePosition: 0n, isFirst: true }),
      writePage({ packets: [opusTags()], granulePosition: 0n }),
    ];
  };

  /** Encodes all whole frames among the waiting samples into pages; the last of them is the file's last if `isLast`. */
  const encode = (isLast: boolean): Uint8Array[] => {
    const pages: Uint8Array[] = [];
    let packets: Uint8Array[] = [];
    const flush = (isLastPage: boolean): void => {
      const encoded = frameCount * frameLength * toOpusRate;
      // The last page's position removes the padding of the last frame.
      const position = isLastPage ? preSkip + sampleCount * toOpusRate : encoded;
      pages.push(writePage({ packets, granulePosition: BigInt(position), isLast: isLastPage }));
      packets = [];
    };
    let start = 0;
    for (; start + frameLength <= waiting.length; start += frameLength) {
      const packet = codec.encode(toInt16(waiting.subarray(start, start + frameLength)));
      const segments = [...packets, packet].reduce((sum, item) => sum + segmentsOf(item), 0);
      if (packets.length === pagePackets || !fitsIntoPage(segments)) flush(false);
      packets.push(packet);
      frameCount += 1;
    }
    waiting = waiting.slice(start);
    if (isLast || packets.length > 0) flush(isLast);
    return pages;
  };
  const take = (samples: Float32Array): void => {
    sampleCount += samples.length;
    waiting = joinSamples([waiting, samples]);
  };

  return {
    contentType: "audio/ogg; codecs=opus",
    delaySeconds: 0,
    push(samples) {
      take(resampler.push(samples));
      return joinBytes([...headers(), ...encode(false)]);
    },
    end() {
      take(resampler.end());
      // Silence until the codec has returned its look-ahead; at least one frame, so that there is a last page.
      const filled = Math.ceil((waiting.length + lookahead) / frameLength) * frameLength;
      waiting = joinSamples([waiting, new Float32Array(filled - waiting.length)]);
      const pages = [...headers(), ...encode(true)];
      codec.drop();
      return joinBytes(pages);
    },
  };
}

/** RFC 7845 §5.1. */
function opusHead(preSkip: number, inputSampleRate: number): Uint8Array {
  const head = Buffer.alloc(19);
  head.write("OpusHead", 0, "latin1");
  head[8] = 1; // version
  head[9] = 1; // channels
  head.writeUInt16LE(preSkip, 10);
  head.writeUInt32LE(inputSampleRate, 12);
  return head; // no gain, channel mapping family 0
}

/** RFC 7845 §5.2: the vendor, and no comments. */
function opusTags(): Uint8Array {
  const vendor = "Sounding (libopus)";
  const tags = Buffer.alloc(16 + vendor.length);
  tags.write("OpusTags", 0, "latin1");
  tags.writeUInt32LE(vendor.length, 8);
  tags.write(vendor, 12, "latin1");
  return tags;
}
