/** Reads the keys of content from the configuration, or from what a command prints, such as that of a key management service. */
import { runProgram } from "../child-process/run-program.ts";
import type { ContentEncryptionSettings } from "../config/content-encryption.ts";
import { ownEnvironment } from "../config/own-environment.ts";
import { createContentCipher, parseContentKey, type ContentCipher, type ContentKey } from "./content-cipher.ts";
import { createTelemetryCipher, type TelemetryCipher } from "./telemetry-cipher.ts";

const form = "32 random bytes as base64 or hex, such as `openssl rand -base64 32` prints";

export interface ContentCiphers {
  /** For the rows of the control database. */
  readonly rows: ContentCipher;
  readonly telemetry: TelemetryCipher;
}

/** @throws Error if a key is not one, or if the command fails; keys are not part of its message */
export async function openContentCiphers(settings: ContentEncryptionSettings): Promise<ContentCiphers> {
  const { key, key_command: command, previous_keys: previous } = settings;
  const keys: ContentKey[] = [];
  if (key !== undefined) keys.push(keyOf(key, "content_encryption.key"));
  if (command !== undefined) keys.push(...(await keysOf(command, settings.key_command_timeout_ms)));
  for (const [index, each] of previous.entries()) keys.push(keyOf(each, `content_encryption.previous_keys[${index}]`));
  if (key === undefined && command === undefined && previous.length > 0) {
    throw new Error("content_encryption has previous_keys, but neither key nor key_command; set one of them.");
  }
  return { rows: createContentCipher(keys), telemetry: createTelemetryCipher(keys) };
}

function keyOf(text: string, name: string): ContentKey {
  const key = parseContentKey(text);
  if (key === undefined) throw new Error(`${name} is not a key; expected ${form}.`);
  return key;
}

/** One key a line, the first of which encrypts. */
async function keysOf([program, ...words]: readonly string[], timeoutMs: number): Promise<ContentKey[]> {
  const name = "content_encryption.key_command";
  const { output, problem } = await runProgram(program!, words, {
    directory: process.cwd(),
    environment: ownEnvironment(),
    timeoutMs,
    signal: new AbortController().signal,
  });
  // What it wrote may have keys.
  if (problem !== undefined) throw new Error(`${name} failed: ${problem}`);
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new Error(`${name} printed no key; expected ${form}.`);
  return lines.map((line, index) => keyOf(line, `Line ${index + 1} of ${name}`));
}
