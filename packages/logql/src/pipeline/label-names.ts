/** Names of labels from the keys of a line. */

const invalid = /[^a-zA-Z0-9_]/gu;

/** A key as a label's name: other characters than letters, digits and `_` become `_`. "" if the key is blank. */
export function toLabelName(key: string): string {
  const trimmed = key.trim();
  if (trimmed === "") return "";
  const name = trimmed.replaceAll(invalid, "_");
  return name >= "0" && name < ":" ? `_${name}` : name;
}

/** A part of a name behind its first one: digits may begin it. */
function toNamePart(key: string): string {
  return key.trim().replaceAll(invalid, "_");
}

const mostNames = 1024;

/** Lines of one query have mostly the same keys: their names are computed once. */
export class LabelNames {
  readonly #names = new Map<string, string>();
  readonly #parts = new Map<string, string>();

  name(key: string): string {
    return remember(this.#names, key, toLabelName);
  }

  /** The name of a key in an object that has a name itself. */
  nested(prefix: string, key: string): string {
    const part = remember(this.#parts, key, toNamePart);
    return part === "" ? prefix : `${prefix}_${part}`;
  }
}

function remember(known: Map<string, string>, key: string, compute: (key: string) => string): string {
  let name = known.get(key);
  if (name === undefined) {
    name = compute(key);
    if (known.size < mostNames) known.set(key, name);
  }
  return name;
}
