/** Finds which names mean the same model. */

/**
 * `gpt-4o-2024-08-06` is `gpt-4o`, `claude-sonnet-4-5-20250929` and `Claude Sonnet 4.5` are `claude-sonnet-4-5`,
 * `openai/gpt-4o` is `gpt-4o`.
 */
export function modelIdentity(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^(?:openai|anthropic)\//, "")
    .replaceAll(/[\s._@:]+/g, "-")
    .replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, "");
}
