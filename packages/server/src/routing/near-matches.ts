/** Suggests model IDs for an unknown one. */
import { closestName } from "../closest-name.ts";

/**
 * At most three IDs: the same name at another engine or with a longer or shorter suffix, otherwise the closest in spelling.
 * @param candidates model IDs that the caller may see
 */
export function suggestModels(id: string, candidates: readonly string[]): string[] {
  const wanted = lastPart(id);
  const related = candidates.filter((candidate) => {
    const name = lastPart(candidate);
    return name === wanted || (wanted.length >= 3 && (name.startsWith(wanted) || wanted.startsWith(`${name}-`)));
  });
  if (related.length > 0) return related.slice(0, 3);
  const closest = closestName(id, candidates);
  return closest === undefined ? [] : [closest];
}

function lastPart(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1).toLowerCase();
}
