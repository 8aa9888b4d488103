/** Label sets of the entries of one query: equal labels become the same object, and are sorted once. */
import { emptyLabels, labelsWithEmptyValues, type Labels } from "@sounding/promql/series/labels";

interface Known {
  /** As they were given, unsorted. */
  readonly pairs: readonly string[];
  readonly labels: Labels;
}

/** More or larger sets are not kept: finding them again would cost more than building them. */
const mostSets = 4096;
const mostCharacters = 2048;

export class LabelCache {
  readonly #known = new Map<string, Known>();

  /** @param pairs name, value, name, value … in any order, each name once */
  labels(pairs: readonly string[]): Labels {
    if (pairs.length === 0) return emptyLabels;
    const key = pairs.join("\0");
    if (key.length > mostCharacters) return toLabels(pairs);
    const known = this.#known.get(key);
    if (known !== undefined) return isSame(known.pairs, pairs) ? known.labels : toLabels(pairs);
    const labels = toLabels(pairs);
    if (this.#known.size >= mostSets) this.#known.clear();
    this.#known.set(key, { pairs, labels });
    return labels;
  }
}

function toLabels(pairs: readonly string[]): Labels {
  const entries: [string, string][] = [];
  for (let index = 0; index < pairs.length; index += 2) entries.push([pairs[index]!, pairs[index + 1]!]);
  return labelsWithEmptyValues(entries);
}

/** Values may contain the separator of the key. */
function isSame(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (left[index] !== right[index]) return false;
  }
  return true;
}
