/** Applies guardrails to one chat call. */
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import type { ContentCategory } from "../api/content-categories.ts";
import { AppError } from "../errors.ts";
import { checkTexts } from "./check-texts.ts";
import type { Checker, EndpointUse, Finding } from "./finding.ts";
import { guardCompletion, guardStream } from "./guard-response.ts";
import { mapPromptTexts } from "./prompt-texts.ts";

/** What was found in a call, for its telemetry; each thing once. */
export interface GuardReport {
  readonly findings: readonly Finding[];
  /** Why the call, or its answer, was refused. */
  readonly blockedFor: ContentCategory | undefined;
  /** Requests to the endpoints of guardrails. */
  readonly uses: readonly EndpointUse[];
}

export interface AppliedGuardrail {
  readonly checker: Checker;
  readonly checksInput: boolean;
  readonly checksOutput: boolean;
  readonly roles: readonly string[] | undefined;
}

export class ChatGuard implements GuardReport {
  readonly findings: Finding[] = [];
  readonly uses: EndpointUse[] = [];
  readonly #guardrails: readonly AppliedGuardrail[];
  readonly #outputCheckers: readonly Checker[];

  constructor(guardrails: readonly AppliedGuardrail[]) {
    this.#guardrails = guardrails;
    this.#outputCheckers = guardrails.filter(({ checksOutput }) => checksOutput).map(({ checker }) => checker);
  }

  get blockedFor(): ContentCategory | undefined {
    return this.findings.find(({ action }) => action === "block")?.category;
  }

  /**
   * What of a request could not be held to, where answers are checked.
   * @throws AppError unsupported_parameter
   */
  checkParameters({ logprobs, modalities }: ChatRequest): void {
    if (this.#outputCheckers.length === 0) return;
    if (logprobs === true) refuse("logprobs", "it would reveal withheld text");
    if (modalities?.some((each) => each !== "text") === true) refuse("modalities", "guardrails can check only text");
  }

  /**
   * The request as the model may see it; the same object if nothing was redacted.
   * @param options.onRecordable receives the request as it may be recorded if the check ends here: redacted so far, and
   * without its messages while a later guardrail may redact more
   * @throws AppError content_filter, and as `Checker.judge`
   */
  async checkPrompt(
    request: ChatRequest,
    { signal, onRecordable }: { readonly signal: AbortSignal; onRecordable(request: ChatRequest): void },
  ): Promise<ChatRequest> {
    const guardrails = this.#guardrails.filter(({ checksInput }) => checksInput);
    const reportRecordable = (value: ChatRequest, checkedBy: number): void => {
      const isRecordable = guardrails.slice(checkedBy).every(({ checker }) => !checker.redacts);
      onRecordable(isRecordable ? value : { ...value, messages: [] });
    };
    let checked = request;
    reportRecordable(checked, 0);
    for (const [index, { checker, roles }] of guardrails.entries()) {
      const { blocked, value } = await checkTexts(checked, mapPromptTexts(roles), {
        checker,
        signal,
        side: "input",
        report: this.#report,
        onUse: this.#onUse,
      });
      reportRecordable(value, index + 1);
      if (blocked !== undefined) throw refusedPrompt(blocked);
      checked = value;
    }
    return checked;
  }

  /** Fails as `Checker.judge`. */
  async completion(completion: ChatCompletion, signal: AbortSignal): Promise<ChatCompletion> {
    if (this.#outputCheckers.length === 0) return completion;
    const check = { checkers: this.#outputCheckers, signal, report: this.#report, onUse: this.#onUse };
    return guardCompletion(completion, check);
  }

  /** Fails as the chunks do, and as `Checker.judge`. */
  stream(
    chunks: AsyncIterable<ChatCompletionChunk>,
    options: { readonly signal: AbortSignal; readonly choiceCount: number; onWithheld(): void },
  ): AsyncIterable<ChatCompletionChunk> {
    if (this.#outputCheckers.length === 0) return chunks;
    const check = { checkers: this.#outputCheckers, report: this.#report, onUse: this.#onUse };
    return guardStream(chunks, { ...options, ...check });
  }

  readonly #onUse = (use: EndpointUse): void => {
    this.uses.push(use);
  };

  readonly #report = (finding: Finding): void => {
    const isKnown = this.findings.some(
      (each) =>
        each.guardrail === finding.guardrail &&
        each.category === finding.category &&
        each.action === finding.action &&
        each.side === finding.side,
    );
    if (!isKnown) this.findings.push(finding);
  };
}

function refuse(param: string, why: string): never {
  throw new AppError(
    "unsupported_parameter",
    `${param} is not available while output guardrails are enabled: ${why}.`,
    {
      param,
    },
  );
}

/** Names no text: errors are logged. */
function refusedPrompt({ category, guardrail }: Finding): AppError {
  return new AppError(
    "content_filter",
    `The prompt was refused because of its content: ${category} (guardrail ${JSON.stringify(guardrail)}).`,
    { param: "messages" },
  );
}
