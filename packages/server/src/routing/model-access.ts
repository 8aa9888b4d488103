/** Decides which models a caller may call: patterns of model IDs in which `*` matches any text. */

/** The part of a checked key that decides. */
export interface ModelAccess {
  /** What the organization may call; undefined: every model. */
  readonly allowedModels: readonly string[] | undefined;
  /** What the key and its role may call; every list must allow the model. */
  readonly narrowedModels?: readonly (readonly string[])[] | undefined;
}

/** Whether one of the names (a model ID, or an alias and its model) is on every allow-list. */
export function mayCall(access: ModelAccess, ...names: readonly string[]): boolean {
  const { narrowedModels = [] } = access;
  return organizationMayCall(access, ...names) && narrowedModels.every((patterns) => isOn(patterns, names));
}

/** Whether one of the names is on the organization's list. */
export function organizationMayCall({ allowedModels }: ModelAccess, ...names: readonly string[]): boolean {
  return allowedModels === undefined || isOn(allowedModels, names);
}

function isOn(patterns: readonly string[], names: readonly string[]): boolean {
  return patterns.some((pattern) => names.some((name) => matchesName(pattern, name)));
}

/** Whether the name matches the pattern, in which `*` matches any text. Linear in practice: only the last `*` backtracks. */
export function matchesName(pattern: string, name: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    if (pattern[inPattern] === "*") {
      star = inPattern++;
      resume = at;
    } else if (inPattern < pattern.length && pattern[inPattern] === name[at]) {
      inPattern++;
      at++;
    } else if (star >= 0) {
      inPattern = star + 1;
      at = ++resume;
    } else return false;
  }
  while (pattern[inPattern] === "*") inPattern++;
  return inPattern === pattern.length;
}
