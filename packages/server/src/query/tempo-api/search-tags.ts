/** Reads the tags of a search from before TraceQL: pairs in logfmt. */
import { AppError } from "../../errors.ts";

const pair = /\s*([^\s="]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?=\s|$)\s*/y;

/** @throws AppError invalid_request for text that is not logfmt, and for a name that is there twice */
export function readTags(text: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  const { length } = text.trimEnd();
  for (let position = 0; position < length; position = pair.lastIndex) {
    pair.lastIndex = position;
    const [, name, quoted, plain] = pair.exec(text) ?? [];
    if (name === undefined)
      throw invalid(`cannot be read at position ${position}; expected name=value or name="value"`);
    if (tags.has(name)) throw invalid(`has ${JSON.stringify(name)} twice; send it once`);
    tags.set(name, plain ?? quoted!.replaceAll(/\\(.)/g, "$1"));
  }
  return tags;
}

function invalid(problem: string): AppError {
  return new AppError("invalid_request", `invalid tags: tags ${problem}.`, { param: "tags" });
}
