/**
 * Samples the next token from raw logits, with OpenAI's parameters and defaults: bias and penalties, temperature, then
 * top-k, top-p and min-p. https://platform.openai.com/docs/api-reference/chat/create
 * docs/adr/0011-llama-cpp.md
 */
import type { SamplingSettings } from "../protocol.ts";
import type { Random } from "./random.ts";

/** The likeliest tokens with their raw logits. */
export type Logits = ReadonlyMap<number, number>;

export interface SamplingContext {
  readonly logits: Logits;
  readonly settings: SamplingSettings;
  /** How often each token occurred in the answer so far. */
  readonly counts: ReadonlyMap<number, number>;
  readonly random: Random;
  /** Whether the grammar, if any, allows the token. */
  allowed(token: number): boolean;
}

interface Candidate {
  readonly token: number;
  readonly logit: number;
}

/** Logits after bias and penalties, likeliest first. */
function adjusted({ logits, settings, counts }: SamplingContext): Candidate[] {
  const { frequencyPenalty, presencePenalty } = settings;
  const bias = new Map(settings.bias);
  const penalized = counts.size > 0 && (frequencyPenalty !== 0 || presencePenalty !== 0);
  const candidates: Candidate[] = [];
  for (const [token, raw] of logits) {
    const count = penalized ? (counts.get(token) ?? 0) : 0;
    const penalty = count === 0 ? 0 : count * frequencyPenalty + presencePenalty;
    candidates.push({ token, logit: raw + (bias.get(token) ?? 0) - penalty });
  }
  return candidates.sort((one, other) => other.logit - one.logit);
}

/** Draws from the candidates (likeliest first) after cutting the unlikely ones. */
function draw(candidates: readonly Candidate[], settings: SamplingSettings, random: Random): number {
  const { temperature, topK, topP, minP } = settings;
  const highest = candidates[0]!.logit;
  const kept = topK > 0 ? candidates.slice(0, topK) : candidates;
  const weights = kept.map(({ logit }) => Math.exp((logit - highest) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let count = 0;
  let mass = 0;
  while (count < weights.length && (count === 0 || (mass < topP * total && weights[count]! >= minP))) {
    mass += weights[count++]!;
  }
  let point = random() * mass;
  for (let index = 0; index < count; index++) {
    point -= weights[index]!;
    if (point < 0) return kept[index]!.token;
  }
  return kept[count - 1]!.token;
}

/**
 * The next token, or undefined if none of the given ones is allowed. Tries one draw first, for grammars mostly agree
 * with the model; where top-p does not cut, the two draws together give exactly the distribution over what is allowed.
 */
export function chooseToken(choosing: SamplingContext): number | undefined {
  const { settings, random } = choosing;
  const candidates = adjusted(choosing);
  if (settings.temperature === 0) return candidates.find(({ token }) => choosing.allowed(token))?.token;
  if (candidates.length === 0) return undefined;
  const first = draw(candidates, settings, random);
  if (choosing.allowed(first)) return first;
  const possible = candidates.filter(({ token }) => choosing.allowed(token));
  return possible.length === 0 ? undefined : draw(possible, settings, random);
}
