/**
 * Changes top-level members of a JSON object in its bytes, without parsing or copying the rest: a request of 16 MiB
 * is forwarded from the buffer in which it arrived. https://www.rfc-editor.org/rfc/rfc8259
 *
 * Of duplicate names only the last is kept, the one that `JSON.parse` saw and that was checked: an engine that reads
 * the first must not get another model, or other limits, than the caller may use.
 */
import { readMembers, type JsonMember } from "../../json-members.ts";
import { joinedBodyBytes, type BufferedBody } from "./upstream-request.ts";

/**
 * @param text one JSON object, known to be well-formed
 * @param changes new values by member name; undefined removes the member
 * @throws AppError invalid_json if the text is not a JSON object
 */
export function spliceJson(text: Buffer, changes: Readonly<Record<string, unknown>>): BufferedBody {
  const members = readMembers(text);
  const isLast = lastOfName(members);
  const runs: Run[] = [];
  let runStart = -1;
  let runEnd = -1;
  for (const [index, member] of members.entries()) {
    if (isLast(index) && !Object.hasOwn(changes, member.name)) {
      if (runStart === -1) runStart = member.start;
      runEnd = member.end;
      continue;
    }
    if (runStart !== -1) runs.push({ start: runStart, end: runEnd });
    runStart = -1;
  }
  if (runStart !== -1) runs.push({ start: runStart, end: runEnd });
  let added = "";
  for (const name in changes) {
    const value = JSON.stringify(changes[name]) as string | undefined;
    if (value === undefined) continue;
    added += `${added === "" && runs.length === 0 ? "" : ","}${JSON.stringify(name)}:${value}`;
  }
  return text.length <= joinedBodyBytes ? join(text, runs, added) : divide(text, runs, added);
}

/** Members that are kept, with the commas between them, in a row. */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** Most objects have so few members that comparing them takes less time than a table of their names. */
const fewMembers = 16;

/** Whether no later member has the same name, by the member's index. */
function lastOfName(members: readonly JsonMember[]): (index: number) => boolean {
  if (members.length <= fewMembers) {
    return (index) => {
      const { name } = members[index]!;
      for (let later = index + 1; later < members.length; later += 1) if (members[later]!.name === name) return false;
      return true;
    };
  }
  const lastIndexes = new Map<string, number>();
  for (const [index, { name }] of members.entries()) lastIndexes.set(name, index);
  return (index) => lastIndexes.get(members[index]!.name) === index;
}

const braceBytes = 2;

/** One buffer with everything. */
function join(text: Buffer, runs: readonly Run[], added: string): BufferedBody {
  let byteLength = braceBytes + Math.max(0, runs.length - 1) + Buffer.byteLength(added);
  for (const { start, end } of runs) byteLength += end - start;
  const joined = Buffer.allocUnsafe(byteLength);
  let at = joined.write("{", 0, "latin1");
  for (const [index, { start, end }] of runs.entries()) {
    if (index > 0) at += joined.write(",", at, "latin1");
    at += text.copy(joined, at, start, end);
  }
  joined.write(`${added}}`, at);
  return { pieces: [joined], byteLength };
}

/** Pieces that share the text's memory. */
function divide(text: Buffer, runs: readonly Run[], added: string): BufferedBody {
  const pieces: Buffer[] = [];
  for (const [index, { start, end }] of runs.entries())
    pieces.push(Buffer.from(index === 0 ? "{" : ","), text.subarray(start, end));
  pieces.push(Buffer.from(`${runs.length === 0 ? "{" : ""}${added}}`));
  let byteLength = 0;
  for (const piece of pieces) byteLength += piece.length;
  return { pieces, byteLength };
}
