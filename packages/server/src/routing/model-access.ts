/** Decides which models an organization may call: patterns of model IDs in which `*` matches any text. */

/** The part of a checked key that decides. Undefined: every model. */
export interface ModelAccess {
  readonly allowedModels: readonly string[] | undefined;
}

/** Whether one of the names (a model ID, or an alias and its model) is on the allow-list. */
export function mayCall(access: ModelAccess, ...names: readonly string[]): boolean {
  const { allowedModels } = access;
  return (
    allowedModels === undefined || allowedModels.some((pattern) => names.some((name) => matchesName(pattern, name)))
  );
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
