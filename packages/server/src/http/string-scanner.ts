/**
 * Passes over the strings of JSON with SIMD instructions, in WebAssembly that `scripts/render-string-scanner.ts` assembles:
 * three to five times as fast as JavaScript. Node's own functions find a quote, but neither control characters nor escapes.
 */
import { webAssembly, type WasmMemory } from "../web-assembly.ts";
import { longestTextBytes, resultBytes, textStart } from "./string-scanner-layout.ts";
import { stringScannerModule } from "./string-scanner-module.ts";

const { exports } = new webAssembly.Instance(new webAssembly.Module(Buffer.from(stringScannerModule, "base64")));
const scan = exports["scan"] as (at: number, end: number) => number;
const memory = Buffer.from((exports["memory"] as WasmMemory).buffer);
const results = new Int32Array(memory.buffer, 0, 3);

/** A part of a text whose strings are scanned. There is one memory, so use it within one synchronous step. */
export class StringScanner {
  /** Of the last scan. */
  escapes = 0;
  /** Whether the last scan passed a control character, or an escape that JSON does not have. */
  isDamaged = false;
  /** Whether the last scan passed ASCII only. It may have looked at up to 63 bytes after the string. */
  isAscii = true;
  #offset = 0;
  #end = 0;

  /** Takes the bytes from `start` to `end`, or as many of them as fit. */
  load(text: Buffer, start: number, end: number): void {
    this.#end = Math.min(end, start + longestTextBytes);
    this.#offset = textStart - start;
    text.copy(memory, textStart, start, this.#end);
  }

  /**
   * @param at inside a string of the loaded part, not within an escape
   * @returns the index of the quote that ends the string, or one that the scan came to, up to 70 bytes before the part ends
   */
  pass(at: number): number {
    const stopped = scan(at + this.#offset, this.#end + this.#offset) - this.#offset;
    this.escapes = results[resultBytes.escapes / 4]!;
    this.isDamaged = results[resultBytes.isDamaged / 4] === 1;
    this.isAscii = results[resultBytes.isAscii / 4] === 1;
    return stopped;
  }
}
