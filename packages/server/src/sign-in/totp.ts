/**
 * One-time codes of authenticator apps: six digits, SHA-1, 30 seconds, which all of them support.
 * https://www.rfc-editor.org/rfc/rfc6238
 */
import { createHmac } from "node:crypto";
import { equalHashes } from "../tenancy/secret.ts";

const stepSeconds = 30;
const digits = 6;
/** Clocks of phones differ, and people type slowly. */
const stepsOff = 1;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const bitsPerCharacter = 5;

export function totpStep(nowSeconds: number): number {
  return Math.floor(nowSeconds / stepSeconds);
}

/** @param secret in base32 */
export function totpCode(secret: string, step: number, length = digits): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  // https://www.rfc-editor.org/rfc/rfc4226#section-5.3
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  const value = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(value % 10 ** length).padStart(length, "0");
}

/**
 * The time step whose code this is; undefined if it is none of now.
 * @param after a step that was used: it and earlier ones do not count
 */
export function stepOfCode(
  secret: string,
  code: string,
  { after = -1, nowSeconds }: { readonly after?: number; readonly nowSeconds: number },
): number | undefined {
  const now = totpStep(nowSeconds);
  const steps = Array.from({ length: 2 * stepsOff + 1 }, (_, index) => now - stepsOff + index);
  return steps.find((step) => step > after && step >= 0 && equalHashes(totpCode(secret, step), code));
}

/** https://www.rfc-editor.org/rfc/rfc4648#section-6 */
function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const character of text) {
    value = ((value << bitsPerCharacter) | alphabet.indexOf(character)) & 0xfff;
    bits += bitsPerCharacter;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
