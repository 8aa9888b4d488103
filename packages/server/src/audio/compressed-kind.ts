/** Detects which compressed audio format a file has, from its first bytes. */
import { looksLikeMp3 } from "./mp3-frames.ts";

export type CompressedKind = "flac" | "vorbis" | "ogg" | "webm" | "mp4" | "mp3";

/** As people call them, for messages and logs. */
export const kindNames: Readonly<Record<CompressedKind, string>> = {
  flac: "FLAC",
  vorbis: "Ogg Vorbis",
  ogg: "Ogg",
  webm: "WebM",
  mp4: "MP4",
  mp3: "MP3",
};

/** The files' container and codec. */
export const compressedContents: Readonly<Record<CompressedKind, { container: string; encoding: string }>> = {
  mp3: { container: "MP3", encoding: "MPEG-1, 2 and 2.5 Layer III" },
  flac: { container: "FLAC", encoding: "FLAC" },
  ogg: { container: "Ogg", encoding: "Opus" },
  vorbis: { container: "Ogg", encoding: "Vorbis" },
  webm: { container: "WebM, Matroska", encoding: "Opus" },
  mp4: { container: "MP4", encoding: "Opus" },
};

/** Bytes at the front of a file by which its kind is recognized. */
export const kindBytes = 64;

/** @param start the first `kindBytes` bytes of the file */
export function compressedKind(start: Uint8Array): CompressedKind | undefined {
  const text = Buffer.from(start).toString("latin1");
  if (text.startsWith("fLaC")) return "flac";
  if (text.startsWith("OggS") && text.includes("\x01vorbis")) return "vorbis";
  if (text.startsWith("OggS") && text.includes("OpusHead")) return "ogg";
  if (/^.E\xdf\xa3/s.test(text)) return "webm";
  if (/^....ftyp/s.test(text)) return "mp4";
  return looksLikeMp3(start) ? "mp3" : undefined;
}
