/** The steps before a chat reaches a model, the same for every wire: prepare, resolve, admit, check the prompt. */
import type { ChatRequest } from "../api/chat-request.ts";
import { toAppError } from "../errors.ts";
import type { ChatCall, ChatModel } from "../engines/engine.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import type { ChatOperation, FinishedChat } from "../finished-call.ts";
import type { ChatGuard } from "../guardrails/chat-guard.ts";
import type { CallerFields } from "../http/caller.ts";
import type { CutTexts } from "../http/json-outline.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { CallCosts } from "../pricing/call-costs.ts";
import { noTokens } from "../pricing/token-usage.ts";
import type { Scope } from "../tenant.ts";
import { callerIn, refusedChat, type CallRecord } from "./call-record.ts";
import type { PreparedChat } from "./prepare.ts";

export interface ChatParts<Model extends ChatModel = ChatModel> {
  /** @throws AppError model_not_found, model_not_allowed */
  resolveModel(scope: Scope, modelId: string): Model;
  /** Checks the call's prompt and answer; undefined if no guardrail applies. */
  guardFor(scope: Scope, modelId: string): ChatGuard | undefined;
  readonly limiter: Limiter;
  readonly costs: CallCosts;
  /** Called once for each call, refused ones included; must not throw. */
  observe(call: FinishedChat): void;
  /** Whether telemetry may record the prompt and the answer of this request. */
  keepsContent(input: Pick<AdmittedInput, "scope" | "headers">): boolean | Promise<boolean>;
}

type AdmittedInput = Pick<RouteInput<ChatRequest>, "body" | "bytes" | CallerFields | "note"> & {
  /** Absent: a chat. */
  readonly operation?: ChatOperation;
};

export interface AdmittedChat<Model extends ChatModel> extends Prepared {
  readonly model: Model;
  readonly guard: ChatGuard | undefined;
  readonly promptTokens: number;
  readonly admission: Admission;
}

/** Puts the prompt's texts in place for guardrails and for telemetry that records them. */
export async function restoreReadTexts(
  texts: CutTexts,
  input: Pick<RouteInput<{ readonly model: string }>, "body" | "scope" | "headers">,
  { guardFor, keepsContent }: Pick<ChatParts, "guardFor" | "keepsContent">,
): Promise<void> {
  if (guardFor(input.scope, input.body.model) !== undefined || keepsContent(input) !== false) await texts.restore();
}

/** Prepares the request, resolves its model, then applies the limits. A refusal is recorded. */
export function admitChat<Model extends ChatModel>(
  input: AdmittedInput,
  prepare: () => PreparedChat,
  parts: ChatParts<Model>,
): AdmittedChat<Model> | Promise<AdmittedChat<Model>> {
  const start = { unixMs: Date.now(), monotonicMs: performance.now() };
  const refuse = (thrown: unknown): never => {
    parts.observe(refusedChat(input, start, toAppError(thrown)));
    throw thrown;
  };
  try {
    const { request, changes, organizationId } = prepare();
    input.scope.requireOrganization(organizationId);
    const model = parts.resolveModel(input.scope, request.model);
    const guard = parts.guardFor(input.scope, request.model);
    guard?.checkParameters(request);
    const promptTokens = estimateTokens(input.bytes.length);
    const longest = request.max_completion_tokens ?? request.max_tokens ?? undefined;
    const count = request.n ?? 1;
    const admitting = parts.limiter.admit(input.scope, {
      estimatedTokens: promptTokens + (longest ?? 0) * count,
      call: () => {
        const usage = { tokens: { ...noTokens, inputTokens: promptTokens, outputTokens: (longest ?? 0) * count } };
        const unlimitedAnswers = longest === undefined ? count : 0;
        const { endUser, tags } = callerIn(input);
        return { model: request.model, endUser, tags, usage, unlimitedAnswers };
      },
    });
    const prepared = { request, changes, model, guard, promptTokens };
    if (!(admitting instanceof Promise)) return { ...prepared, admission: admitting };
    return admitting.then((admission) => ({ ...prepared, admission }), refuse);
  } catch (thrown) {
    return refuse(thrown);
  }
}

type Prepared = Pick<ChatCall, "request" | "changes">;

/** Checks the prompt. @returns the request with redactions @throws AppError content_filter, after which the call has ended */
export async function guardPrompt(
  guard: ChatGuard,
  { request, changes }: Prepared,
  { record, signal }: { readonly record: CallRecord; readonly signal: AbortSignal },
): Promise<Prepared> {
  try {
    const checked = await guard.checkPrompt(request, {
      signal,
      onRecordable: (recordable) => {
        record.request = recordable;
      },
    });
    if (checked === request) return { request, changes };
    return { request: checked, changes: { ...changes, ...changedMembers(request, checked) } };
  } catch (error) {
    record.end(toAppError(error));
    throw error;
  }
}

/** Top-level members that changed. */
function changedMembers(before: ChatRequest, after: ChatRequest): Record<string, unknown> {
  const known = before as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== known[name]));
}
