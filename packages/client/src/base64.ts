/** Decodes base64. https://www.rfc-editor.org/rfc/rfc4648#section-4 */
import { InvalidAnswerError } from "./errors.ts";

interface Base64Decoder {
  /** Newer runtimes have it; it is many times faster. https://tc39.es/proposal-arraybuffer-base64/ */
  readonly fromBase64?: (text: string) => Uint8Array;
}

/** Throws InvalidAnswerError if the text is not base64. */
export function fromBase64(text: string): Uint8Array {
  try {
    const { fromBase64: decode } = Uint8Array as Base64Decoder;
    if (decode !== undefined) return decode.call(Uint8Array, text);
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    // oxlint-disable-next-line unicorn/prefer-code-point -- each character stands for one byte
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index);
    return bytes;
  } catch (error) {
    throw new InvalidAnswerError("The response is not valid base64.", error);
  }
}
