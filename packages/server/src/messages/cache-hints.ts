/**
 * Keeps `cache_control` in a translated request, for the engines of Anthropic: without it, their calls behind guardrails would
 * cost many times more.
 */
import { cacheHint, type CacheHinted } from "../api/chat-request.ts";
import { isObject, type JsonObject } from "../json-object.ts";

/** @param sources the blocks, or the tool, from which the target was made; the last mark counts */
export function withCacheHint<Target extends object>(target: Target, sources: unknown): Target & CacheHinted {
  const marked = (Array.isArray(sources) ? sources : [sources]).findLast(
    (source): source is JsonObject => isObject(source) && isObject(source["cache_control"]),
  );
  return marked === undefined ? target : { ...target, [cacheHint]: marked["cache_control"] };
}
