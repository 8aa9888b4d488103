/** Computes the checksum of a file of any size. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";

/** The SHA-256 of the file, or of its first bytes, in hexadecimal. */
export async function sha256Of(
  path: string,
  onBytes: (count: number) => void = () => {},
  sizeBytes: number = Infinity,
): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(
    createReadStream(path, { highWaterMark: 2 ** 20, end: sizeBytes - 1 }),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        onBytes(chunk.length);
      }
    },
  );
  return hash.digest("hex");
}
