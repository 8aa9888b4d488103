/**
 * Decodes Opus in Ogg, WebM, Matroska or MP4: Mediabunny reads the container, libopus as WebAssembly the packets.
 * Both are loaded with the first such file. https://mediabunny.dev · https://github.com/eshaz/wasm-audio-decoders
 */
import type { InputAudioTrack } from "mediabunny";
import { AppError } from "../errors.ts";
import { aacAdvice, readableFiles } from "./audio-input.ts";
import type { ByteReader } from "./byte-reader.ts";
import { damaged, free, type DecodedAudio } from "./decoded-audio.ts";

/** Size of one read, and of the window in which the container may seek back, in bytes. */
const pieceBytes = 64 * 1024;
const longestPacketBytes = 3_840;
/** Maximum number of consecutive reads of the same bytes. */
const mostRepetitions = 1000;
const mostCachedBytes = 8 * 1024 * 1024;

/**
 * @param container as people call it, such as `WebM`
 * @throws AppError `unsupported_media_type` for other audio than Opus, `invalid_request` for a damaged file
 */
export async function* decodeOpus(
  reader: ByteReader,
  container: string,
): AsyncGenerator<DecodedAudio, void, undefined> {
  const { ALL_FORMATS, EncodedPacketSink, Input, ReadableStreamSource } = await import("mediabunny");
  const { OpusDecoder } = await import("opus-decoder");
  /** What broke in the source: not the container's fault. */
  let failure: unknown;
  let sourceEnded = false;
  let hasSound = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = await reader.readSome(pieceBytes);
          sourceEnded = bytes === null;
          if (bytes === null) controller.close();
          // Copied: the source may overwrite its piece when the next one is requested.
          else controller.enqueue(bytes.slice());
        } catch (error) {
          failure = error;
          controller.error(error);
        }
      },
    },
    // Nothing is read ahead: bytes are read only when the decoder waits for them.
    { highWaterMark: 0 },
  );
  const source = new ReadableStreamSource(stream, { maxCacheSize: mostCachedBytes, handleUnhandledError: () => {} });
  endEndlessReading(source);
  const input = new Input({ formats: ALL_FORMATS, source });
  let decoder: InstanceType<typeof OpusDecoder> | undefined;
  try {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw damaged(container, "it contains no audio");
    decoder = new OpusDecoder(await opusOptions(track, container));
    await decoder.ready;
    const sink = new EncodedPacketSink(track);
    // One by one: the sink's iterator reads ahead, and a damaged end would lose the packets before it.
    for (let packet = await sink.getFirstPacket(); packet !== null; packet = await sink.getNextPacket(packet)) {
      // Longer than any packet of Opus that encoders make, and than the memory that the decoder has for one.
      if (packet.data.length > longestPacketBytes) continue;
      const sound = decoder.decodeFrame(packet.data);
      hasSound ||= sound.samplesDecoded > 0;
      yield sound;
    }
  } catch (error) {
    if (failure !== undefined) throw failure;
    if (error instanceof AppError) throw error;
    // A truncated file yields what it contains.
    if (sourceEnded && hasSound) return;
    throw damaged(container, "its container is damaged", error);
  } finally {
    if (decoder !== undefined) free(decoder);
    input.dispose();
    await reader.close();
  }
}

/**
 * Mediabunny 1.61.0 looks for the next element of a damaged Matroska file in steps of what it reads less 8 bytes: it reads
 * the last 8 bytes of the file forever. Its source then fails. A release without the fault, or without the internal
 * method, needs no change here; the watch over the worker ends other endless work.
 */
function endEndlessReading(source: object): void {
  const internal = source as { _read?: (start: number, end: number, ...rest: unknown[]) => unknown };
  const read = internal._read?.bind(source);
  if (read === undefined) return;
  let last = { start: -1, end: -1 };
  let repetitions = 0;
  internal._read = (start, end, ...rest) => {
    repetitions = start === last.start && end === last.end ? repetitions + 1 : 0;
    if (repetitions > mostRepetitions) throw new Error(`The bytes ${start} to ${end} were read again and again.`);
    last = { start, end };
    return read(start, end, ...rest);
  };
}

/** What the stream's head says. https://www.rfc-editor.org/rfc/rfc7845#section-5.1 */
async function opusOptions(track: InputAudioTrack, container: string) {
  const codec = await track.getCodec();
  if (codec !== "opus") {
    const name = codec === null ? "audio of an unknown kind" : codec.toUpperCase();
    const advice = codec === "aac" || container === "MP4" ? ` ${aacAdvice}` : "";
    const message = `The file is ${container} with ${name}. Send ${readableFiles}.${advice}`;
    throw new AppError("unsupported_media_type", message, { param: "file" });
  }
  const { description } = (await track.getDecoderConfig()) ?? {};
  if (description === undefined) return { channels: await track.getNumberOfChannels(), preSkip: 0 };
  const bytes = Buffer.from(
    ArrayBuffer.isView(description)
      ? description.buffer.slice(description.byteOffset, description.byteOffset + description.byteLength)
      : description,
  );
  if (bytes.length < 19) throw damaged(container, "its audio header is truncated");
  const channels = bytes[9]!;
  const preSkip = bytes.readUInt16LE(10);
  if (bytes[18] === 0 || bytes.length < 21 + channels) return { channels, preSkip };
  return {
    channels,
    preSkip,
    streamCount: bytes[19]!,
    coupledStreamCount: bytes[20]!,
    channelMappingTable: [...bytes.subarray(21, 21 + channels)],
  };
}
