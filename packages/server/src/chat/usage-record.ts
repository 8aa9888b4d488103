/** Collects what one chat call used while it runs, and what it costs: also where it was cut off, or an answer was not used. */
import type { ChatCompletion, ChatCompletionChunk, ChatDelta, ChatUsage } from "../api/chat-answer.ts";
import type { Attempt } from "../engines/engine.ts";
import type { AppError } from "../errors.ts";
import type { GuardReport } from "../guardrails/chat-guard.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import { sumOfCosts, type CallCost, type CallCosts } from "../pricing/call-costs.ts";
import { lastModel } from "../pricing/priced-model.ts";
import type { Payer } from "../pricing/prices.ts";
import { noTokens, tokensOfChat } from "../pricing/token-usage.ts";

interface UsageContext {
  readonly costs: CallCosts;
  readonly payer: Payer;
  /** As the caller wrote it. */
  readonly requestedModel: string;
  /** An estimate. */
  readonly promptTokens: number;
  readonly attempts: readonly Attempt[];
  readonly guard: GuardReport | undefined;
}

type AnswerText = Pick<ChatDelta, "content" | "reasoning_content" | "refusal"> & {
  readonly tool_calls?: readonly { readonly function?: { readonly arguments?: string } }[] | undefined;
};

/** What was used until a call ended. */
export interface FinalUsage {
  readonly usage: ChatUsage | undefined;
  /** Whether a part of the usage is an estimate, because the engine did not report it. */
  readonly isEstimated: boolean;
  readonly cost: CallCost | undefined;
}

export class UsageRecord {
  readonly #context: UsageContext;
  #usage: ChatUsage | undefined;
  /** Whether that is of the whole answer. */
  #isFinal = false;
  /** Of answers that were not used, with the number of attempts before theirs. */
  readonly #unused: { readonly usage: ChatUsage; readonly index: number }[] = [];
  #chunks = 0;
  /** Of the answer. */
  #characters = 0;
  /** As the last part of the answer says. */
  #serviceTier: string | undefined;
  #priced: { readonly usage: ChatUsage; readonly cost: CallCost | undefined } | undefined;

  constructor(context: UsageContext) {
    this.#context = context;
  }

  addChunk({ choices, service_tier: tier }: ChatCompletionChunk): void {
    this.#chunks += 1;
    this.#serviceTier = tier ?? this.#serviceTier;
    for (const { delta } of choices) this.#addText(delta);
  }

  addCompletion({ choices, service_tier: tier }: ChatCompletion): void {
    this.#serviceTier = tier ?? this.#serviceTier;
    for (const { message } of choices) this.#addText(message);
  }

  /** A chunk that nobody got. */
  addWithheld(): void {
    this.#chunks += 1;
  }

  /** @param isFinal false if more of the answer follows */
  setUsage(usage: ChatUsage, isFinal: boolean): void {
    this.#usage = usage;
    this.#isFinal = isFinal;
  }

  /** The usage of an answer that the attempt, which has not ended yet, does not use. */
  addUnused(usage: ChatUsage): void {
    this.#unused.push({ usage, index: this.#context.attempts.length });
  }

  /** What the answer costs if nothing follows; computed once for the same usage. */
  get cost(): CallCost | undefined {
    return this.#usage === undefined ? undefined : this.#costOf(this.#usage);
  }

  /** For limits: the reported tokens, else one per chunk, and nothing for a call that failed before its first chunk. */
  tokensToSettle(error: AppError | undefined): number {
    if (this.#usage !== undefined) return this.#usage.total_tokens;
    return error === undefined || this.#chunks > 0 ? this.#context.promptTokens + this.#chunks : 0;
  }

  /** @param error what ended the call */
  end(error: AppError | undefined): FinalUsage {
    const known = this.#usage;
    if (known !== undefined && (this.#isFinal || error === undefined)) {
      return { usage: known, isEstimated: false, cost: this.#costOf(known) };
    }
    const usage = this.#estimate(error);
    const cost = usage === undefined ? sumOfCosts(this.#otherCosts()) : this.#costOf(usage);
    // Whether an engine worked before its first chunk is not known; vendors charge for it.
    if (this.#chunks === 0 && known === undefined && cost === undefined) {
      return { usage: undefined, isEstimated: false, cost };
    }
    return { usage, isEstimated: usage !== undefined && usage !== known, cost };
  }

  #addText({ content, reasoning_content: reasoning, refusal, tool_calls: calls }: AnswerText): void {
    this.#characters += (content ?? refusal ?? "").length + (reasoning ?? "").length;
    for (const call of calls ?? []) this.#characters += call.function?.arguments?.length ?? 0;
  }

  /** What was received, and the prompt. */
  #estimate(error: AppError | undefined): ChatUsage | undefined {
    const { attempts, promptTokens } = this.#context;
    const known = this.#usage;
    const wasSent = attempts.length > 0 && (error === undefined || error.code === "client_closed");
    if (known === undefined && this.#chunks === 0 && !wasSent) return undefined;
    const input = known?.prompt_tokens ?? promptTokens;
    const output = Math.max(known?.completion_tokens ?? 0, this.#generatedTokens);
    if (known !== undefined && output === known.completion_tokens) return known;
    return { ...known, prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  }

  /** A chunk can have several tokens, or be one that an engine made of half a character. */
  get #generatedTokens(): number {
    return Math.max(this.#chunks, estimateTokens(this.#characters));
  }

  #costOf(usage: ChatUsage): CallCost | undefined {
    if (this.#priced?.usage === usage) return this.#priced.cost;
    const { attempts } = this.#context;
    const own = this.#price(usage, attempts);
    const cost = own === undefined ? undefined : sumOfCosts([...this.#otherCosts(), own]);
    this.#priced = { usage, cost };
    return cost;
  }

  /** Of answers that were not used, and of the endpoints of guardrails. */
  #otherCosts(): CallCost[] {
    const { attempts, costs, guard, payer } = this.#context;
    const ofGuard = (guard?.uses ?? []).flatMap(({ guardrail, inputTokens, model = guardrail }) => {
      const tokens = inputTokens === undefined ? undefined : { ...noTokens, inputTokens };
      return costs.of(payer, { engine: guardrail, model, modelId: guardrail }, { tokens }) ?? [];
    });
    const ofUnused = this.#unused.flatMap(({ index, usage }) => this.#price(usage, attempts.slice(0, index + 1)) ?? []);
    return [...ofGuard, ...ofUnused];
  }

  #price(usage: ChatUsage, attempts: readonly Attempt[]): CallCost | undefined {
    const { costs, payer, requestedModel } = this.#context;
    const used = { tokens: tokensOfChat(usage), reportedCost: usage.cost, serviceTier: this.#serviceTier };
    return costs.of(payer, lastModel(attempts, requestedModel), used);
  }
}
