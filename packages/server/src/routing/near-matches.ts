/** Suggests model IDs for an unknown one. */
import { closestName } from "@sounding/promql/syntax/closest-name";

/**
 * What is wrong with a model ID that names no model. `visible` are the IDs that the caller may see; `absence` is why an engine that
 * the ID names is not available.
 */
export function unknownModel(
  id: string,
  { absence, visible }: { readonly visible: readonly string[]; readonly absence: string | undefined },
): string {
  const shown = JSON.stringify(id);
  const ofEngines = visible.filter((candidate) => candidate.endsWith(`/${id}`));
  if (ofEngines.length > 1) {
    const choice = new Intl.ListFormat("en", { type: "disjunction" }).format(
      ofEngines.map((candidate) => JSON.stringify(candidate)),
    );
    return `Several engines have the model ${shown}. Name one of them: ${choice}.`;
  }
  return `The model ${shown} does not exist.${absence === undefined ? modelHint(id, visible) : ` ${absence}`}`;
}

/** A sentence, after a space, that leads to a model that exists. */
export function modelHint(id: string, visible: readonly string[]): string {
  const near = suggestModels(id, visible);
  if (near.length > 0) return ` Did you mean ${near.map((name) => JSON.stringify(name)).join(" or ")}?`;
  return visible.length === 0 ? " No models are available yet." : " GET /v1/models lists the available models.";
}

/**
 * At most three IDs: the same name at another engine or with a longer or shorter suffix, otherwise the closest in spelling.
 * @param candidates model IDs that the caller may see
 */
function suggestModels(id: string, candidates: readonly string[]): string[] {
  const requested = lastPart(id);
  const related = candidates.filter((candidate) => {
    const name = lastPart(candidate);
    if (name === requested) return true;
    return requested.length >= 3 && (name.startsWith(requested) || requested.startsWith(`${name}-`));
  });
  if (related.length > 0) return related.slice(0, 3);
  const closest = closestName(id, candidates);
  return closest === undefined ? [] : [closest];
}

function lastPart(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1).toLowerCase();
}
