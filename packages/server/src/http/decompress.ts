/** Inflates gzip within a limit, so that a small body cannot become a large one. https://www.rfc-editor.org/rfc/rfc1952 */
import { promisify } from "node:util";
import { gunzip, gunzipSync } from "node:zlib";
import { AppError } from "../errors.ts";

const gunzipAside = promisify(gunzip);
/** What is inflated at once, without the detour over a thread: at most about a millisecond of work. */
const quickInputBytes = 65_536;
const quickOutputBytes = 262_144;

/** @throws AppError payload_too_large or invalid_request */
export async function decompress(bytes: Buffer, limitBytes: number): Promise<Buffer> {
  const quickBytes = Math.min(quickOutputBytes, limitBytes);
  if (bytes.length <= quickInputBytes) {
    try {
      return gunzipSync(bytes, { maxOutputLength: quickBytes });
    } catch (error) {
      if (!isTooLarge(error) || quickBytes === limitBytes) throw failure(error, limitBytes);
    }
  }
  try {
    return await gunzipAside(bytes, { maxOutputLength: limitBytes });
  } catch (error) {
    throw failure(error, limitBytes);
  }
}

/** A body beyond the limit. */
export function tooLarge(limitBytes: number): AppError {
  return new AppError(
    "payload_too_large",
    `The body has more than ${limitBytes} bytes, the most that this operation takes.`,
  );
}

function failure(error: unknown, limitBytes: number): AppError {
  if (isTooLarge(error)) return tooLarge(limitBytes);
  return new AppError("invalid_request", "The body is not valid gzip and could not be decompressed.", { cause: error });
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
}
