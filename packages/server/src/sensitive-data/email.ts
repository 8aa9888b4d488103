/** Finds mail addresses, also in URLs (`%40`). */
import type { Detector } from "./detector.ts";

/** RFC 5321: 64 before the @, 255 after it. */
const longestLocalPart = 64;
const longestDomain = 258;

const at = /@|%40/g;
const domain = /(?:@|%40)(?:[\p{L}\p{N}][\p{L}\p{N}-]{0,62}\.){1,8}\p{L}{2,24}/uy;

export const emailDetector: Detector = {
  longestMatch: longestLocalPart + longestDomain,
  find(text, from) {
    at.lastIndex = from;
    for (let sign = at.exec(text); sign !== null; sign = at.exec(text)) {
      const start = startOfLocalPart(text, sign.index, Math.max(from, sign.index - longestLocalPart));
      if (start === sign.index) continue;
      domain.lastIndex = sign.index;
      if (domain.test(text)) return { start, end: domain.lastIndex };
    }
    return undefined;
  },
};

function startOfLocalPart(text: string, end: number, limit: number): number {
  let start = end;
  while (start > limit && isLocal(text.charCodeAt(start - 1))) start -= 1;
  while (start < end && !isWord(text.charCodeAt(start))) start += 1;
  return start;
}

const others = new Set(Buffer.from("._%+'-"));

function isLocal(code: number): boolean {
  return isWord(code) || others.has(code);
}

/** ASCII letters, digits and `_`, and all that is not ASCII. */
function isWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    code === 0x5f ||
    code >= 0x80
  );
}
