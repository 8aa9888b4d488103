/**
 * Changes top-level members of a JSON object in its bytes, without parsing or copying the rest: a request of 16 MiB
 * is forwarded from the buffer in which it arrived. https://www.rfc-editor.org/rfc/rfc8259
 *
 * Of duplicate names only the last is kept, the one that `JSON.parse` saw and that was checked: an engine that reads
 * the first must not get another model, or other limits, than the caller may use.
 */
import { readMembers } from "../../json-members.ts";
import type { BufferedBody } from "../upstream-http/upstream-request.ts";

/**
 * @param text one JSON object, known to be well-formed
 * @param changes new values by member name; undefined removes the member
 * @throws AppError invalid_json if the text is not a JSON object
 */
export function spliceJson(text: Buffer, changes: Readonly<Record<string, unknown>>): BufferedBody {
  const members = readMembers(text);
  const lastIndexes = new Map<string, number>();
  for (const [index, { name }] of members.entries()) lastIndexes.set(name, index);

  const writer = new PieceWriter(text);
  let runStart = -1;
  let runEnd = -1;
  for (const [index, member] of members.entries()) {
    const isChanged = Object.hasOwn(changes, member.name);
    if (!isChanged && lastIndexes.get(member.name) === index) {
      if (runStart === -1) runStart = member.start;
      runEnd = member.end;
      continue;
    }
    if (runStart !== -1) writer.copy(runStart, runEnd);
    runStart = -1;
  }
  if (runStart !== -1) writer.copy(runStart, runEnd);
  for (const name of Object.keys(changes)) {
    const value = JSON.stringify(changes[name]) as string | undefined;
    if (value !== undefined) writer.write(`${JSON.stringify(name)}:${value}`);
  }
  return writer.end();
}

/** Collects members, with the commas between them. */
class PieceWriter {
  readonly #text: Buffer;
  readonly #pieces: Buffer[] = [];
  #byteLength = 0;
  #pending = "{";
  #isEmpty = true;

  constructor(text: Buffer) {
    this.#text = text;
  }

  copy(start: number, end: number): void {
    if (!this.#isEmpty) this.#pending += ",";
    this.#isEmpty = false;
    this.#flush();
    this.#add(this.#text.subarray(start, end));
  }

  write(member: string): void {
    this.#pending += this.#isEmpty ? member : `,${member}`;
    this.#isEmpty = false;
  }

  end(): BufferedBody {
    this.#pending += "}";
    this.#flush();
    return { pieces: this.#pieces, byteLength: this.#byteLength };
  }

  #flush(): void {
    if (this.#pending !== "") this.#add(Buffer.from(this.#pending));
    this.#pending = "";
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#byteLength += piece.length;
  }
}
