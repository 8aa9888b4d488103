/** The queries that ran in this browser, by organization, the latest first. */

const maximumQueries = 50;
/** Longer queries are not remembered. */
const maximumLength = 2_000;

function keyOf(organizationId: string): string {
  return `sounding.promql-history.${organizationId}`;
}

export function readHistory(organizationId: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(organizationId)) ?? "[]");
    return Array.isArray(stored) ? stored.filter((each) => typeof each === "string").slice(0, maximumQueries) : [];
  } catch {
    // Storage may be blocked, and its content may be anything.
    return [];
  }
}

export function rememberQuery(organizationId: string, query: string): void {
  const text = query.trim();
  if (text === "" || text.length > maximumLength) return;
  const others = readHistory(organizationId).filter((each) => each !== text);
  try {
    localStorage.setItem(keyOf(organizationId), JSON.stringify([text, ...others].slice(0, maximumQueries)));
  } catch {
    // There is no history then.
  }
}

export function clearHistory(organizationId: string): void {
  try {
    localStorage.removeItem(keyOf(organizationId));
  } catch {
    // There is none.
  }
}
