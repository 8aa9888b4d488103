/** Generates one choice of an answer in one sequence, token by token. */
import { setImmediate } from "node:timers/promises";
import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { AppError } from "../../../errors.ts";
import { GrammarStepsError } from "../grammar/matcher.ts";
import type { AlternativeLogprob, Generation, GenerationEvent, TokenLogprob } from "../protocol.ts";
import { createAnswerOutput } from "./answer-output.ts";
import { createShapeFollower, type AnswerShape, type ShapeFollower } from "./answer-shape.ts";
import { reevaluateAll, evaluateNext, type LogitsRequest, type NextLogits } from "./evaluation.ts";
import { createRandom, type Random } from "./random.ts";
import { chooseToken, type Logits } from "./sampler.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface ChoiceSettings {
  readonly index: number;
  readonly generation: Generation;
  readonly shape: AnswerShape;
  readonly vocabulary: Vocabulary;
  readonly maximumTokens: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Sends an event; resolves when the reader can take more. */
  emit(event: GenerationEvent): Promise<void>;
}

/** Tokens that are tried against the grammar before other answers get their turn. */
const tokensPerSlice = 512;

type Finish = Pick<Extract<GenerationEvent, { kind: "finished" }>, "reason" | "completionTokens">;

/** Whether the token's text belongs to the answer: control tokens do only where a tool call is written with them. */
function visibleBytes({ vocabulary, shape }: ChoiceSettings, token: number): Uint8Array {
  const bytes = vocabulary.bytesOf(token);
  if (!vocabulary.isControl(token) || bytes.length === 0) return bytes;
  const { toolFormat } = shape;
  if (toolFormat === undefined) return Buffer.alloc(0);
  const syntax = `${toolFormat.opening}${toolFormat.middle}${toolFormat.closing}${toolFormat.between ?? ""}`;
  return syntax.includes(Buffer.from(bytes).toString()) ? bytes : Buffer.alloc(0);
}

function wantedLogits({ logprobs, sampling }: Generation, counts: ReadonlyMap<number, number>): LogitsRequest {
  const favored = sampling.bias.filter(([, bias]) => bias > 0).map(([token]) => token);
  const repeated = sampling.frequencyPenalty < 0 || sampling.presencePenalty < 0 ? [...counts.keys()] : [];
  return { logTotal: logprobs, also: [...favored, ...repeated] };
}

function logprobOf(
  settings: ChoiceSettings,
  token: number,
  { logits, logTotal }: NextLogits,
): TokenLogprob | undefined {
  if (!settings.generation.logprobs) return undefined;
  const describe = (each: number, logit: number): AlternativeLogprob => {
    const bytes = settings.vocabulary.bytesOf(each);
    return { token: Buffer.from(bytes).toString(), logprob: logit - logTotal, bytes: [...bytes] };
  };
  const likeliest = [...logits].sort((one, other) => other[1] - one[1]).slice(0, settings.generation.topLogprobs);
  return {
    ...describe(token, logits.get(token) ?? -Infinity),
    top_logprobs: likeliest.map(([each, logit]) => describe(each, logit)),
  };
}

interface Step {
  readonly token: number;
  readonly next: NextLogits;
}

function allows(settings: ChoiceSettings, follower: ShapeFollower, token: number): boolean {
  if (settings.vocabulary.isEnd(token)) return follower.mayEnd;
  const bytes = visibleBytes(settings, token);
  return bytes.length === 0 ? !follower.held : follower.allows(bytes);
}

/** Where a schema admits no text at all or no end, it is the request that fails, not the model that all share. */
function deadEnd({ format }: Generation): AppError {
  const param = format === "text" ? "tools" : "response_format";
  return new AppError(
    "unsupported_parameter",
    `${param} cannot be continued with any of the model's tokens: either no response satisfies the schema, or the model's tokens cannot express it.`,
    { param },
  );
}

async function chooseNext(
  settings: ChoiceSettings,
  sequence: LlamaContextSequence,
  {
    previous,
    counts,
    follower,
    random,
  }: { previous: Token; counts: Map<number, number>; follower: ShapeFollower; random: Random },
): Promise<Step> {
  const next = await evaluateNext(sequence, previous, wantedLogits(settings.generation, counts));
  const choosing = {
    settings: settings.generation.sampling,
    counts,
    random,
    allowed: (token: number) => allows(settings, follower, token),
  };
  const token = chooseToken({ ...choosing, logits: next.logits });
  if (token !== undefined) return { token, next };
  const logits = await allowedOf(await reevaluateAll(sequence), follower, {
    allowed: choosing.allowed,
    signal: settings.signal,
  });
  follower.renew();
  const rare = chooseToken({ ...choosing, logits });
  if (rare === undefined) throw deadEnd(settings.generation);
  return { token: rare, next: { logits, logTotal: next.logTotal } };
}

/** The allowed ones of all tokens; other answers get their turn in between. */
async function allowedOf(
  all: Logits,
  follower: ShapeFollower,
  { allowed, signal }: { allowed(token: number): boolean; signal: AbortSignal },
): Promise<Map<number, number>> {
  const logits = new Map<number, number>();
  let tried = 0;
  for (const [token, logit] of all) {
    if (tried++ % tokensPerSlice === 0) {
      await setImmediate();
      signal.throwIfAborted();
      follower.renew();
    }
    if (allowed(token)) logits.set(token, logit);
  }
  return logits;
}

/**
 * Generates until the model ends, a stop sequence or the limit is reached, and returns why it ended. The sequence holds
 * the prompt but for its last token, `previous`.
 */
export async function generateChoice(
  settings: ChoiceSettings,
  sequence: LlamaContextSequence,
  lastPromptToken: Token,
): Promise<Finish> {
  try {
    return await generate(settings, sequence, lastPromptToken);
  } catch (error) {
    if (!(error instanceof GrammarStepsError)) throw error;
    const param = settings.generation.format === "text" ? "tools" : "response_format.json_schema.schema";
    throw new AppError(
      "invalid_request",
      `${param} is too ambiguous or too large: ${error.message}. Use fewer alternatives that start alike, and smaller counts in patterns.`,
      { param },
    );
  }
}

async function generate(
  settings: ChoiceSettings,
  sequence: LlamaContextSequence,
  lastPromptToken: Token,
): Promise<Finish> {
  const { index, generation, shape, signal } = settings;
  const follower = createShapeFollower(shape);
  const output = createAnswerOutput({
    choice: index,
    shape,
    stop: shape.turnEnd === undefined ? generation.stop : [...generation.stop, shape.turnEnd],
    toolNames: generation.tools.map(({ name }) => name),
  });
  const random = createRandom(settings.seed, index);
  const counts = new Map<number, number>();
  let previous = lastPromptToken;
  let completionTokens = 0;
  let ended = false;

  while (!ended && !output.stopped && completionTokens < settings.maximumTokens) {
    const { token, next } = await chooseNext(settings, sequence, { previous, counts, follower, random });
    signal.throwIfAborted();
    ended = settings.vocabulary.isEnd(token);
    completionTokens++;
    if (ended) break;
    const bytes = visibleBytes(settings, token);
    follower.accept(bytes);
    for (const event of output.push(bytes, logprobOf(settings, token, next))) await settings.emit(event);
    counts.set(token, (counts.get(token) ?? 0) + 1);
    previous = token as Token;
    signal.throwIfAborted();
  }
  for (const event of output.end()) await settings.emit(event);
  if (!ended && !output.stopped) return { reason: "length", completionTokens };
  return { reason: output.calledTool ? "tool_calls" : "stop", completionTokens };
}
