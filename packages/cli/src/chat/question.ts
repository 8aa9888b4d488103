/** Builds the prompt from the command line, piped input and files. */
import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import type { Readable } from "node:stream";
import type { ChatMessage } from "@sounding/client";
import { CliError } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { writeLine } from "../output.ts";

/** More would not fit into a request. */
const longestInputBytes = 12 * 1024 * 1024;

/** A pipe that stays silent this long is probably not meant to be read. */
const hintAfterMs = 3000;

const imageTypes: Readonly<Record<string, string>> = {
  ".gif": "image/gif",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
};

/** A message's content: text, or text and images in order. */
export type Content = NonNullable<ChatMessage["content"]>;

/**
 * Text files come first, each under its name; then the words of the command line; then the piped input. Images are
 * separate parts.
 */
export function composeQuestion(words: string, piped: string, files: readonly QuestionFile[]): Content {
  const texts = files.filter((file) => file.kind === "text").map((file) => `${file.name}:\n\n${file.text.trimEnd()}`);
  const text = [...texts, words, piped.trimEnd()].filter((part) => part !== "").join("\n\n");
  const images = files.filter((file) => file.kind === "image");
  if (images.length === 0) return text;
  return [
    ...images.map((image) => ({ type: "image_url" as const, image_url: { url: image.url } })),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
  ];
}

export type QuestionFile =
  | { readonly kind: "text"; readonly name: string; readonly text: string }
  | { readonly kind: "image"; readonly url: string };

/** Reads a file as text, or as an image by its name. Throws CliError if it is neither. */
export async function readQuestionFile(path: string): Promise<QuestionFile> {
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > longestInputBytes) throw new Error(`it has ${size} bytes; at most ${longestInputBytes} are allowed`);
    bytes = await readFile(path);
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`, undefined, { cause: error });
  }
  const imageType = imageTypes[extname(path).toLowerCase()];
  if (imageType !== undefined) return { kind: "image", url: `data:${imageType};base64,${bytes.toString("base64")}` };
  try {
    return { kind: "text", name: path, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    throw new CliError(`${path} is neither UTF-8 text nor an image (${Object.keys(imageTypes).join(", ")})`);
  }
}

/** Reads piped input to its end. Prints a notice if nothing arrives. */
export async function readPiped(io: CommandIo): Promise<string> {
  const hint = setTimeout(() => {
    void writeLine(io.stderr, "sounding: waiting for the end of standard input (use `</dev/null` for none)");
  }, hintAfterMs);
  const stop = (): void => void io.stdin.destroy(new Error("interrupted"));
  io.signal.addEventListener("abort", stop, { once: true });
  try {
    return await readText(io.stdin);
  } finally {
    clearTimeout(hint);
    io.signal.removeEventListener("abort", stop);
  }
}

async function readText(stream: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream) {
    const bytes = Buffer.from(piece as Uint8Array);
    length += bytes.length;
    if (length > longestInputBytes) {
      throw new CliError(`standard input is longer than ${longestInputBytes} bytes, which is the limit`);
    }
    pieces.push(bytes);
  }
  return Buffer.concat(pieces).toString("utf8");
}
