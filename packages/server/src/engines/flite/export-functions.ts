/**
 * Adds functions to the export section of a WebAssembly module. Flite's module is a command that exports only `_start`,
 * but the `name` section keeps the names of its functions.
 * https://webassembly.github.io/spec/core/binary/modules.html, https://webassembly.github.io/spec/core/appendix/custom.html
 */
import { AppError } from "../../errors.ts";

const customSection = 0;
const exportSection = 7;
const functionNames = 1;
const functionExport = 0;

interface Section {
  readonly id: number;
  /** With the section's head. */
  readonly bytes: Uint8Array;
  readonly content: Uint8Array;
}

/**
 * The module with the named functions among its exports and without its custom sections (debugging data).
 * @throws AppError internal when the module does not have them
 */
export function exportFunctions(module: Uint8Array, names: readonly string[]): Uint8Array<ArrayBuffer> {
  const sections = [...sectionsOf(module)];
  const indexes = functionIndexes(sections);
  const entries = names.map((name) => {
    const index = indexes.get(name);
    if (index === undefined) throw new AppError("internal", `The WebAssembly module has no function ${name}.`);
    const bytes = new TextEncoder().encode(name);
    return [...unsigned(bytes.length), ...bytes, functionExport, ...unsigned(index)];
  });
  const parts: Uint8Array[] = [module.subarray(0, 8)];
  for (const { id, bytes, content } of sections) {
    if (id === customSection) continue;
    if (id === exportSection) {
      const reader = new Reader(content);
      const count = reader.unsigned();
      const added = entries.flat();
      const body = [...unsigned(count + entries.length), ...content.subarray(reader.position), ...added];
      parts.push(new Uint8Array([exportSection, ...unsigned(body.length), ...body]));
    } else parts.push(bytes);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** Reads the binary format's integers (LEB128) and texts. */
class Reader {
  position = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.position >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.position++];
    if (byte === undefined) throw new AppError("internal", "The WebAssembly module is cut off.");
    return byte;
  }

  unsigned(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  take(length: number): Uint8Array {
    const start = this.position;
    this.position += length;
    return this.#bytes.subarray(start, this.position);
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.unsigned()));
  }
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

function* sectionsOf(module: Uint8Array): Generator<Section, void, undefined> {
  const reader = new Reader(module);
  reader.take(8);
  while (!reader.atEnd) {
    const start = reader.position;
    const id = reader.byte();
    const content = reader.take(reader.unsigned());
    yield { id, content, bytes: module.subarray(start, reader.position) };
  }
}

function functionIndexes(sections: readonly Section[]): Map<string, number> {
  const indexes = new Map<string, number>();
  for (const { id, content } of sections) {
    if (id !== customSection) continue;
    const reader = new Reader(content);
    if (reader.text() !== "name") continue;
    while (!reader.atEnd) {
      const subsection = reader.byte();
      const names = new Reader(reader.take(reader.unsigned()));
      if (subsection !== functionNames) continue;
      for (let count = names.unsigned(); count > 0; count--) {
        const index = names.unsigned();
        indexes.set(names.text(), index);
      }
    }
  }
  return indexes;
}
