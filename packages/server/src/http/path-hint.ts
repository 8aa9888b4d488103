/** What is probably wrong with a path that nothing serves: the client's base URL, or the API that it speaks. */

/** Paths of other APIs that clients are often set to. */
const otherApis: readonly (readonly [RegExp, string])[] = [
  [/^\/api\/(?:chat|generate|tags|show|embed|embeddings|ps|version|pull)$/, "Ollama's API"],
  [/^(?:\/v1)?\/openai\/(?:deployments|v1)\//, "Azure OpenAI's API"],
  [/^\/v1(?:beta\d?|alpha)?\/(?:models|tunedModels)\/[^/]+:\w+$/, "Gemini's API"],
  [/^\/v\d\/(?:chat|generate|embed|rerank)$/, "Cohere's API"],
  [/^\/model\/[^/]+\/(?:invoke|converse)/, "Amazon Bedrock's API"],
  [/^(?:\/v1)?\/messages\/batches(?:\/|$)/, "Anthropic's batches"],
  [
    /^(?:\/v1)?\/(?:completions|conversations|images\/\w+|files|batches|fine_tuning\/jobs|assistants|threads)(?:\/|$)/,
    "this part of OpenAI's API",
  ],
];

/** Requests of the AI Refinery SDK about what Sounding does not have, or has elsewhere. */
const governance: readonly (readonly [RegExp, string])[] = [
  [/^\/governance\/workspaces(?:\/|$)/, "Sounding has no workspaces; an organization has projects."],
  [/^\/governance\/models(?:\/|$)/, "Models are set in the configuration of the server; GET /v1/models lists them."],
  [/^\/governance\/organizations\//, "Operators change and delete organizations with /admin/v1/organizations/{id}."],
];

/**
 * @param serves whether the server has a path
 * @returns a sentence with a space before it; empty if nothing is known
 */
export function pathHint(path: string, serves: (path: string) => boolean): string {
  const single = path.replaceAll(/\/{2,}/g, "/");
  if (single !== path && serves(single))
    return " It has two slashes in a row; remove the one at the end of the base URL.";
  const whole = path.replace(/\/$/, "");
  if (whole !== path && serves(whole)) return " Remove the slash at its end.";
  if (serves(`/v1${path}`)) return " The base URL of OpenAI's clients must end in /v1.";
  if (path.startsWith("/v1/v1/")) return " The base URL has /v1 twice.";
  return otherApiHint(path);
}

/** The same for a path that is served, but not with the request's method. */
export function otherApiHint(path: string): string {
  const remedy = governance.find(([pattern]) => pattern.test(path))?.[1];
  if (remedy !== undefined) return ` ${remedy}`;
  const api = otherApis.find(([pattern]) => pattern.test(path))?.[1];
  if (api === undefined) return "";
  return ` Sounding does not serve ${api}; it serves OpenAI's chat completions, responses, embeddings, speech and transcription under /v1 (see /docs).`;
}
