/**
 * Assembles the WebAssembly that scans the strings of JSON, 64 bytes at a time: the steps of simdjson's first stage
 * (Langdale and Lemire, "Parsing Gigabytes of JSON per Second", section 3.1) that a check of strings needs.
 * `packages/server/src/http/string-scanner.ts` calls it and says what it does.
 */
import loadWabt from "wabt";
import { resultBytes, readPastBlock } from "../packages/server/src/http/string-scanner-layout.ts";

/** A block is four vectors of 16 bytes, and in masks one bit per byte. */
const vectors = ["$bytes0", "$bytes1", "$bytes2", "$bytes3"];
const blockBytes = 16 * vectors.length;

const isQuote = (bytes: string) => `(i8x16.eq (local.get ${bytes}) (local.get $quote))`;
const isBackslash = (bytes: string) => `(i8x16.eq (local.get ${bytes}) (local.get $backslash))`;
const isControl = (bytes: string) => `(i8x16.lt_u (local.get ${bytes}) (local.get $space))`;
const isLetterU = (bytes: string) => `(i8x16.eq (local.get ${bytes}) (i8x16.splat (i32.const 0x75)))`;
/**
 * Whether no escape ends with the byte: those that do, " \ / b f n r t u, have a common bit in the tables of their low and
 * high four bits.
 */
const isNoEscape = (bytes: string) => `(i8x16.eq (v128.const i64x2 0 0) (v128.and
  (i8x16.swizzle (local.get $lowBits) (v128.and (local.get ${bytes}) (i8x16.splat (i32.const 0x0f))))
  (i8x16.swizzle (local.get $highBits) (i8x16.shr_u (local.get ${bytes}) (i32.const 4)))))`;

/** One bit for each byte of the block that passes the test. */
function mask(test: (bytes: string) => string): string {
  return vectors
    .map((bytes, index) => `(i64.shl (i64.extend_i32_u (i8x16.bitmask ${test(bytes)})) (i64.const ${16 * index}))`)
    .reduce((left, right) => `(i64.or ${left} ${right})`);
}

/** Whether a byte of the block passes one of the tests. */
function any(...tests: ((bytes: string) => string)[]): string {
  const found = vectors.flatMap((bytes) => tests.map((test) => test(bytes)));
  return `(v128.any_true ${found.reduce((left, right) => `(v128.or ${left} ${right})`)})`;
}

const not = (bits: string) => `(i64.xor ${bits} (i64.const -1))`;
/** The bits that are odd, counted from zero. */
const odd = "(i64.const 0xaaaaaaaaaaaaaaaa)";

const source = `(module
  (memory (export "memory") 3)

  ;; Takes the bounds of a text that begins inside a string. Returns where the scan ended.
  (func (export "scan") (param $at i32) (param $end i32) (result i32)
    ${vectors.map((bytes) => `(local ${bytes} v128)`).join(" ")}
    (local $quote v128) (local $backslash v128) (local $space v128) (local $lowBits v128) (local $highBits v128)
    (local $backslashes i64) (local $isEscaped i64) (local $open i64) (local $series i64) (local $starts i64)
    (local $escaped i64) (local $quotes i64) (local $inside i64) (local $unicode i64)
    (local $escapes i64) (local $damage i64) (local $seen v128)
    (local.set $quote (i8x16.splat (i32.const 0x22)))
    (local.set $backslash (i8x16.splat (i32.const 0x5c)))
    (local.set $space (i8x16.splat (i32.const 0x20)))
    (local.set $lowBits (v128.const i8x16 0 0 13 0 8 8 4 0 0 0 0 0 2 0 4 1))
    (local.set $highBits (v128.const i8x16 0 0 1 0 0 2 4 8 0 0 0 0 0 0 0 0))
    (block $done
      (loop $block
        (br_if $done (i32.gt_s (i32.add (local.get $at) (i32.const ${blockBytes + readPastBlock})) (local.get $end)))
        ${vectors.map((bytes, index) => `(local.set ${bytes} (v128.load offset=${16 * index} align=1 (local.get $at)))`).join("\n        ")}
        (local.set $seen ${vectors.reduce((seen, bytes) => `(v128.or ${seen} (local.get ${bytes}))`, "(local.get $seen)")})
        (if (i32.or (i32.wrap_i64 (local.get $isEscaped)) ${any(isQuote, isBackslash, isControl)})
          (then
            (local.set $backslashes ${mask(isBackslash)})
            ;; In a series of backslashes every other one begins an escape. The subtraction carries through each series, so
            ;; that the parity of its start decides which; $isEscaped is 1 if the last block ended within an escape.
            (local.set $open (i64.and (local.get $backslashes) ${not("(local.get $isEscaped)")}))
            (local.set $series (i64.xor ${odd}
              (i64.sub (i64.or (i64.shl (local.get $open) (i64.const 1)) ${odd}) (local.get $open))))
            (local.set $escaped (i64.xor (local.get $series) (i64.or (local.get $backslashes) (local.get $isEscaped))))
            (local.set $starts (i64.and (local.get $series) (local.get $backslashes)))
            (local.set $isEscaped (i64.shr_u (local.get $starts) (i64.const 63)))
            ;; The string is all before the first quote that is not escaped.
            (local.set $quotes (i64.and ${mask(isQuote)} ${not("(local.get $escaped)")}))
            (local.set $inside (i64.and ${not("(local.get $quotes)")} (i64.sub (local.get $quotes) (i64.const 1))))
            (local.set $escapes
              (i64.add (local.get $escapes) (i64.popcnt (i64.and (local.get $starts) (local.get $inside)))))
            (local.set $escaped (i64.and (local.get $escaped) (local.get $inside)))
            (local.set $damage (i64.or (local.get $damage) (i64.or
              (i64.and (local.get $escaped) ${mask(isNoEscape)})
              (i64.and (local.get $inside) ${mask(isControl)}))))
            (local.set $unicode (i64.and (local.get $escaped) ${mask(isLetterU)}))
            (loop $digits
              (if (i64.ne (local.get $unicode) (i64.const 0))
                (then
                  (local.set $damage (i64.or (local.get $damage) (i64.extend_i32_u
                    (call $lacksDigits (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $unicode))))))))
                  (local.set $unicode (i64.and (local.get $unicode) (i64.sub (local.get $unicode) (i64.const 1))))
                  (br $digits))))
            (if (i64.ne (local.get $quotes) (i64.const 0))
              (then
                (local.set $at (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $quotes)))))
                (local.set $isEscaped (i64.const 0))
                (br $done)))))
        (local.set $at (i32.add (local.get $at) (i32.const ${blockBytes})))
        (br $block)))
    ;; An escape that the last block began is scanned again.
    (i32.store (i32.const ${resultBytes.escapes}) (i32.wrap_i64 (i64.sub (local.get $escapes) (local.get $isEscaped))))
    (i32.store (i32.const ${resultBytes.isDamaged}) (i64.ne (local.get $damage) (i64.const 0)))
    (i32.store (i32.const ${resultBytes.isAscii}) (i32.eqz (i8x16.bitmask (local.get $seen))))
    (i32.sub (local.get $at) (i32.wrap_i64 (local.get $isEscaped))))

  ;; Whether the four bytes after this one are not all hexadecimal digits.
  (func $lacksDigits (param $at i32) (result i32)
    (i32.eqz (i32.and
      (i32.and (call $isDigit (i32.load8_u offset=1 (local.get $at))) (call $isDigit (i32.load8_u offset=2 (local.get $at))))
      (i32.and (call $isDigit (i32.load8_u offset=3 (local.get $at))) (call $isDigit (i32.load8_u offset=4 (local.get $at)))))))

  (func $isDigit (param $byte i32) (result i32)
    (i32.or
      (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10))
      (i32.lt_u (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61)) (i32.const 6)))))
`;

export async function renderStringScanner(): Promise<string> {
  const module = (await loadWabt()).parseWat("string-scanner.wat", source, { simd: true });
  const bytes = Buffer.from(module.toBinary({}).buffer);
  module.destroy();
  return `/** Generated by \`scripts/render-string-scanner.ts\`. */\nexport const stringScannerModule =\n  "${bytes.toString("base64")}";\n`;
}
