/**
 * Parses MP3 frames, and writes the silent first frame with the LAME tag: the number of frames, and how many samples at
 * either end are the encoder's padding.
 * http://gabriel.mp3-tech.org/mp3infotag.html · https://www.mp3-tech.org/programmer/frame_header.html
 */

/** Samples that LAME adds before the audio. */
const encoderDelay = 576;
/** Samples that every decoder adds; one that honors the tag cuts both. */
const decoderDelay = 529;

const bitratesMpeg1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const bitratesMpeg2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const sampleRatesMpeg1 = [44_100, 48_000, 32_000];

interface FrameShape {
  /** Bytes of the frame, its header included. */
  readonly length: number;
  readonly samples: number;
  /** Bytes from the frame's start to a tag: after the side information. */
  readonly tagOffset: number;
}

/** Reads the four bytes at `position` as a layer III header; null if they are none. */
function frameShape(bytes: Uint8Array, position: number): FrameShape | null {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(position, position + 4);
  const version = (second >> 3) & 3; // 0: MPEG-2.5, 2: MPEG-2, 3: MPEG-1
  if (first !== 0xff || (second & 0xe6) !== 0xe2 || version === 1) return null;
  const isMpeg1 = version === 3;
  const bitrate = (isMpeg1 ? bitratesMpeg1 : bitratesMpeg2)[third >> 4];
  const baseRate = sampleRatesMpeg1[(third >> 2) & 3];
  if (!bitrate || !baseRate) return null;
  const sampleRate = baseRate / ({ 0: 4, 2: 2, 3: 1 }[version] ?? 1);
  const samples = isMpeg1 ? 1152 : 576;
  const isMono = fourth >> 6 === 3;
  const sideInformation = isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  return {
    length: Math.floor((samples / 8) * ((bitrate * 1000) / sampleRate)) + ((third >> 1) & 1),
    samples,
    tagOffset: 4 + sideInformation,
  };
}

/** The whole frames at the front of `bytes`, at most `limit`, their number, and the bytes after them. */
export function splitFrames(
  bytes: Uint8Array,
  limit = Infinity,
): { frames: Uint8Array; count: number; rest: Uint8Array } {
  let position = 0;
  let count = 0;
  while (count < limit && position + 4 <= bytes.length) {
    const shape = frameShape(bytes, position);
    if (shape === null || position + shape.length > bytes.length) break;
    position += shape.length;
    count += 1;
  }
  return { frames: bytes.subarray(0, position), count, rest: bytes.subarray(position) };
}

/** Whether a file begins like MP3: with an ID3 tag, or with a frame of MPEG audio. */
export function looksLikeMp3(start: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = start;
  const hasTag = first === 0x49 && second === 0x44 && third === 0x33;
  const isFrame = first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
  return hasTag || (isFrame && third >> 4 !== 15 && (third & 0x0c) !== 0x0c);
}

/** How many frames like those that begin with `header` a decoder needs to give `sampleCount` samples of sound. */
export function framesNeeded(header: Uint8Array, sampleCount: number): number {
  return Math.ceil((encoderDelay + decoderDelay + sampleCount) / readShape(header).samples);
}

function readShape(header: Uint8Array): FrameShape {
  const shape = frameShape(header, 0);
  if (shape === null) throw new TypeError("not the header of an MP3 frame");
  return shape;
}

interface WholeFile {
  readonly frameCount: number;
  readonly audioBytes: number;
  /** Samples of sound. */
  readonly sampleCount: number;
}

/** What of the tag follows its name. */
const hasFrames = 1;
const hasBytes = 2;
const hasTableOfContents = 4;
const unknownBytes = 0xffff_ffff;

/**
 * The frame to put first: a frame of silence like those that begin with `header`, holding an "Info" tag (constant
 * bitrate) with LAME's extension. `file` is null for a stream: its tag has only the encoder delay, and its
 * length in bytes is 0xFFFFFFFF, because ffmpeg plays a tag with neither frames nor bytes as audio.
 */
export function infoFrame(header: Uint8Array, file: WholeFile | null): Uint8Array {
  const frameHeader = Buffer.from(header);
  frameHeader[2] = (frameHeader[2] ?? 0) & 0xfd; // no padding byte
  const shape = readShape(frameHeader);
  const frame = Buffer.alloc(shape.length);
  frameHeader.copy(frame);
  const nameEnd = shape.tagOffset + frame.write("Info", shape.tagOffset, "latin1");
  const lameStart = file === null ? writeStreamInfo(frame, nameEnd) : writeFileInfo(frame, nameEnd, file);
  frame.write("LAME3.100", lameStart, "latin1");
  frame[lameStart + 9] = 0x01; // revision 0, constant bitrate
  const padding = file === null ? 0 : file.frameCount * shape.samples - encoderDelay - file.sampleCount;
  frame.writeUIntBE(encoderDelay * 0x1000 + Math.min(Math.max(padding, 0), 0xfff), lameStart + 21, 3);
  if (file !== null) frame.writeUInt32BE(file.audioBytes + frame.length, lameStart + 28);
  frame.writeUInt16BE(crc16(frame.subarray(0, lameStart + 34)), lameStart + 34);
  return frame;
}

function writeStreamInfo(frame: Buffer, position: number): number {
  frame.writeUInt32BE(hasBytes, position);
  return frame.writeUInt32BE(unknownBytes, position + 4);
}

function writeFileInfo(frame: Buffer, position: number, file: WholeFile): number {
  frame.writeUInt32BE(hasFrames | hasBytes | hasTableOfContents, position);
  frame.writeUInt32BE(file.frameCount, position + 4);
  const table = frame.writeUInt32BE(file.audioBytes + frame.length, position + 8);
  // Constant bitrate: a hundredth of the time is a hundredth of the bytes.
  for (let hundredth = 0; hundredth < 100; hundredth += 1) {
    frame[table + hundredth] = Math.floor((hundredth * 256) / 100);
  }
  return table + 100;
}

/** CRC-16/ARC, as the tag's last field has it over all bytes before. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >> 1) ^ (crc & 1 ? 0xa001 : 0);
  }
  return crc;
}
