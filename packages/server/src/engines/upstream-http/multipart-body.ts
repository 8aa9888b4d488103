/** Streams a multipart form with one file. https://www.rfc-editor.org/rfc/rfc7578 */
import { randomUUID } from "node:crypto";
import type { StreamedBody } from "./upstream-request.ts";

export interface MultipartFile {
  /** The form field. Names are ours and need no escaping. */
  readonly field: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly byteLength: number;
  open(): AsyncIterable<Uint8Array>;
}

export interface MultipartBody extends StreamedBody {
  readonly contentType: string;
}

/** The fields, then the file. */
export function multipartBody(fields: readonly (readonly [string, string])[], file: MultipartFile): MultipartBody {
  const boundary = `sounding-${randomUUID()}`;
  const head = (name: string, rest: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${rest}\r\n\r\n`;
  const before = Buffer.from(
    [
      ...fields.map(([name, value]) => `${head(name, "")}${value}\r\n`),
      head(file.field, `; filename="${file.fileName}"\r\ncontent-type: ${file.mediaType}`),
    ].join(""),
  );
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    byteLength: before.length + file.byteLength + after.length,
    async *open() {
      yield before;
      yield* file.open();
      yield after;
    },
  };
}
