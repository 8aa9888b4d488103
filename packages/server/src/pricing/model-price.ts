/** What a model's usage costs, in integers of a billionth of the currency's unit. */
import type { Conversion } from "./exchange-rates.ts";
import type { CallUsage, TokenUsage } from "./token-usage.ts";

/** Of one million tokens of each kind, in the currency's unit. */
export interface TokenRates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Kept for five minutes, or as long as the vendor keeps it without a choice. */
  readonly cacheWrite: number;
  readonly cacheWriteHour: number;
  readonly audioInput: number;
  readonly audioCacheRead: number;
  readonly audioOutput: number;
  readonly imageOutput: number;
  readonly reasoning: number;
  /** Of what was found by searches and read. */
  readonly citation: number;
}

/** Rates for prompts with more input tokens than this; they are those of all tokens of the call. */
export interface TokenTier extends TokenRates {
  readonly above: number;
}

export interface ModelPrice {
  /** In order of `above`, from 0; empty if tokens have no price. */
  readonly tokens: readonly TokenTier[];
  /** The same for calls that the vendor processed in one of these service tiers, such as `flex`. */
  readonly serviceTiers: Readonly<Record<string, readonly TokenTier[]>>;
  /** Of one million characters of text to speak. */
  readonly characters: number | undefined;
  /** Of one minute of audio, spoken or transcribed. */
  readonly audioMinute: number | undefined;
  /** Shorter recordings are charged as if they had this length. */
  readonly leastSeconds: number;
  /** Of each call, in addition to what it used. */
  readonly request: number | undefined;
  /** Of one thousand searches of the web. */
  readonly webSearches: number | undefined;
}

/** A price and when it holds, on the clock of UTC. */
export interface DatedPrice {
  /** Unix time; the first one of a list holds from the beginning. */
  readonly fromMs: number;
  /** Seconds of the day from and to which it holds; the second may be the earlier. */
  readonly hours: readonly [number, number] | undefined;
  readonly price: ModelPrice;
  /** Absent: the price was given in the currency of costs. */
  readonly conversion?: Conversion | undefined;
}

export function priceAt(prices: readonly DatedPrice[], unixMs: number): ModelPrice {
  return dateHolding(prices, unixMs).price;
}

/** The last one that holds. @param prices at least one */
export function dateHolding(prices: readonly DatedPrice[], unixMs: number): DatedPrice {
  for (let index = prices.length - 1; index > 0; index -= 1) {
    const { fromMs, hours } = prices[index]!;
    if (unixMs >= fromMs && (hours === undefined || isWithin(hours, (unixMs / 1000) % secondsOfDay))) {
      return prices[index]!;
    }
  }
  return prices[0]!;
}

const secondsOfDay = 86_400;

function isWithin([from, to]: readonly [number, number], second: number): boolean {
  return from <= to ? second >= from && second < to : second >= from || second < to;
}

/** What a call costs: whole billionths of the currency's unit. */
export interface Billionths {
  /** Of what the model was given, including what is charged for the call itself and for searches. */
  readonly input: number;
  readonly output: number;
}

/** @returns undefined if the price says nothing about what was used */
export function costOf(price: ModelPrice, usage: CallUsage): Billionths | undefined {
  const used = costOfUse(price, usage);
  if (used === undefined && price.request === undefined) return undefined;
  const searches = ((usage.tokens?.webSearches ?? 0) * (price.webSearches ?? 0)) / 1_000;
  const extra = (price.request ?? 0) + searches;
  return {
    input: Math.round((used?.input ?? 0) + extra * billionth),
    output: Math.round(used?.output ?? 0),
  };
}

const billionth = 1e9;
/** Rates are of a million tokens: a token of rate 1 costs a thousand billionths. */
const perToken = billionth / 1e6;

function costOfUse(price: ModelPrice, usage: CallUsage): Billionths | undefined {
  const tiers = serviceTierOf(price, usage) ?? price.tokens;
  if (usage.tokens !== undefined && tiers.length > 0) return costOfTokens(tiers, usage.tokens);
  if (usage.characters !== undefined && price.characters !== undefined) {
    return { input: usage.characters * price.characters * perToken, output: 0 };
  }
  if (price.audioMinute === undefined) return undefined;
  const { inputSeconds, outputSeconds } = usage;
  if (inputSeconds === undefined && outputSeconds === undefined) return undefined;
  const ofSeconds = (seconds: number): number => (seconds / 60) * price.audioMinute! * billionth;
  const charged = inputSeconds === undefined || inputSeconds === 0 ? 0 : Math.max(inputSeconds, price.leastSeconds);
  return { input: ofSeconds(charged), output: ofSeconds(outputSeconds ?? 0) };
}

/** Undefined if the call's service tier has no price of its own. */
export function serviceTierOf(
  { serviceTiers }: ModelPrice,
  { serviceTier }: CallUsage,
): readonly TokenTier[] | undefined {
  const isPriced = serviceTier !== undefined && Object.hasOwn(serviceTiers, serviceTier);
  return isPriced ? serviceTiers[serviceTier] : undefined;
}

function costOfTokens(tiers: readonly TokenTier[], usage: TokenUsage): Billionths {
  let rates = tiers[0]!;
  for (const tier of tiers) if (usage.inputTokens > tier.above) rates = tier;
  const { cacheReadTokens: read, cacheWriteTokens: written, inputTokens, outputTokens } = usage;
  // Some instrumentations leave cached tokens out of the input.
  const uncached = Math.max(0, inputTokens - read - written);
  const writtenForHour = Math.min(usage.cacheWriteHourTokens, written);
  const audioRead = Math.min(usage.audioCacheReadTokens, read);
  const audio = Math.min(Math.max(0, usage.audioInputTokens - audioRead), uncached);
  const audioOut = Math.min(usage.audioOutputTokens, outputTokens);
  const imageOut = Math.min(usage.imageOutputTokens, outputTokens - audioOut);
  const citation = Math.min(usage.citationTokens, outputTokens - audioOut - imageOut);
  const reasoning = Math.min(usage.reasoningTokens, outputTokens - audioOut - imageOut - citation);
  return {
    input:
      perToken *
      ((uncached - audio) * rates.input +
        audio * rates.audioInput +
        (read - audioRead) * rates.cacheRead +
        audioRead * rates.audioCacheRead +
        (written - writtenForHour) * rates.cacheWrite +
        writtenForHour * rates.cacheWriteHour),
    output:
      perToken *
      ((outputTokens - audioOut - imageOut - citation - reasoning) * rates.output +
        audioOut * rates.audioOutput +
        imageOut * rates.imageOutput +
        citation * rates.citation +
        reasoning * rates.reasoning),
  };
}

/** Cached tokens, audio, images and reasoning cost as much as other tokens where nothing is said of them. */
export function completeRates(given: Partial<TokenRates> & Pick<TokenRates, "input" | "output">): TokenRates {
  const { input, output, cacheRead = input, cacheWrite = input, audioInput = input } = given;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    cacheWriteHour: given.cacheWriteHour ?? cacheWrite,
    audioInput,
    audioCacheRead: given.audioCacheRead ?? (given.cacheRead === undefined ? audioInput : cacheRead),
    audioOutput: given.audioOutput ?? output,
    imageOutput: given.imageOutput ?? output,
    reasoning: given.reasoning ?? output,
    citation: given.citation ?? output,
  };
}
