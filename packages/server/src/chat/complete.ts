/** Completes one chat, batch or streaming: prepare, admit, call a model, record. */
import type { ChatCompletion } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import { toAppError } from "../errors.ts";
import type { ChatGuard } from "../guardrails/chat-guard.ts";
import type { CallerFields } from "../http/caller.ts";
import type { RouteInput, RouteResponse } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { ChatCall, ChatModel } from "../engines/engine.ts";
import type { Scope } from "../tenant.ts";
import { reportEnd } from "../streams/report-end.ts";
import { prepareChat } from "./prepare.ts";
import { PreparedCall } from "./prepared-call.ts";
import type { FinishedChat } from "../finished-call.ts";
import { CallRecord, refusedChat } from "./call-record.ts";
import { toFrames } from "./chunks.ts";

export interface ChatParts {
  /** @throws AppError model_not_found, model_not_allowed */
  resolveModel(scope: Scope, modelId: string): ChatModel;
  /** Checks the call's prompt and answer; undefined if no guardrail applies. */
  guardFor(scope: Scope, modelId: string): ChatGuard | undefined;
  readonly limiter: Limiter;
  /** Called once for each call, refused ones included; must not throw. */
  observe(call: FinishedChat): void;
  /** Whether the scope's project records prompts and answers in telemetry. */
  keepsContent(scope: Scope): boolean | Promise<boolean>;
}

type ChatInput = Pick<RouteInput<ChatRequest>, "body" | "bytes" | CallerFields | "signal" | "cancellation" | "note">;

export type Chat = (input: ChatInput) => Promise<RouteResponse>;

/** An estimate for the limits, until the engine reports usage. */
const bytesPerToken = 4;

export function createChat(parts: ChatParts): Chat {
  return async (input) => {
    const admitting = admit(input, parts);
    const admitted = admitting instanceof Promise ? await admitting : admitting;
    const { request: received, changes: receivedChanges, model, guard, promptTokens, admission } = admitted;
    const record = new CallRecord({ request: received, guard, promptTokens, admission, input, parts });
    const { request, changes } =
      guard === undefined
        ? { request: received, changes: receivedChanges }
        : await guardPrompt(guard, { request: received, changes: receivedChanges }, { signal: input.signal, record });
    const call = new PreparedCall({ request, changes }, input, record.attempts);
    const headers = admission.headers();
    if (request.stream !== true) {
      return { kind: "json", value: await complete(model, call, { record, guard }), headers };
    }
    const includeUsage = request.stream_options?.include_usage === true;
    const modelChunks = model.stream(call);
    const chunks =
      guard?.stream(modelChunks, {
        signal: input.signal,
        choiceCount: request.n ?? 1,
        onWithheld: () => record.onWithheld(),
      }) ?? modelChunks;
    const events = toFrames(
      reportEnd(chunks, (error) => record.end(error)),
      {
        includeUsage,
        observer: record,
      },
    );
    return { kind: "events", events, headers };
  };
}

interface AdmittedChat extends Prepared {
  readonly model: ChatModel;
  readonly guard: ChatGuard | undefined;
  readonly promptTokens: number;
  readonly admission: Admission;
}

/** Prepares the request, resolves its model, then applies the limits. A refusal is recorded. */
function admit(input: ChatInput, parts: ChatParts): AdmittedChat | Promise<AdmittedChat> {
  const start = { unixMs: Date.now(), monotonicMs: performance.now() };
  const refuse = (thrown: unknown): never => {
    parts.observe(refusedChat(input, start, toAppError(thrown)));
    throw thrown;
  };
  try {
    const { request, changes, organizationId } = prepareChat(input.body);
    input.scope.requireOrganization(organizationId);
    const model = parts.resolveModel(input.scope, request.model);
    const guard = parts.guardFor(input.scope, request.model);
    guard?.checkParameters(request);
    const promptTokens = Math.ceil(input.bytes.length / bytesPerToken);
    const longestAnswer = (request.max_completion_tokens ?? request.max_tokens ?? 0) * (request.n ?? 1);
    const admitting = parts.limiter.admit(input.scope, { estimatedTokens: promptTokens + longestAnswer });
    const prepared = { request, changes, model, guard, promptTokens };
    if (!(admitting instanceof Promise)) return { ...prepared, admission: admitting };
    return admitting.then((admission) => ({ ...prepared, admission }), refuse);
  } catch (thrown) {
    return refuse(thrown);
  }
}

type Prepared = Pick<ChatCall, "request" | "changes">;

/** Checks the prompt. @returns the request with redactions @throws AppError content_filter, after which the call has ended */
async function guardPrompt(
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

async function complete(
  model: ChatModel,
  call: ChatCall,
  { record, guard }: { readonly record: CallRecord; readonly guard: ChatGuard | undefined },
): Promise<ChatCompletion> {
  try {
    const answer = await model.complete(call);
    if (answer.usage !== undefined) record.onUsage(answer.usage);
    const completion = guard === undefined ? answer : ((await guard.completion(answer, call.signal)) ?? answer);
    record.onCompletion(completion);
    record.end();
    return completion;
  } catch (error) {
    record.end(toAppError(error));
    throw error;
  }
}
