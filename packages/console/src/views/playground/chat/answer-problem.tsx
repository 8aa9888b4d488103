/** Why an answer is missing or incomplete, and what to do. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatDuration } from "../../../design/format.ts";
import { Notice } from "../../../design/states.tsx";
import { href } from "../../../state/address.ts";
import type { AnswerActions } from "./answer-actions.ts";
import type { Answer, AnswerError } from "./conversation.ts";

export function AnswerProblem({ answer, actions }: { readonly answer: Answer; readonly actions: AnswerActions }) {
  const { state, error, finishReason, text, toolCalls } = answer;
  if (error !== undefined)
    return <FailedAnswer error={error} incomplete={state === "incomplete"} model={answer.model} actions={actions} />;
  if (state === "incomplete") {
    return (
      <Notice kind="warning">
        The stream ended before the answer was complete. Regenerate it, and look at its trace if this happens again.
      </Notice>
    );
  }
  if (state === "stopped") return <p class="small muted">Stopped.</p>;
  if (finishReason === "length") {
    return (
      <Notice kind="warning">
        The answer ends here because it reached the maximum number of tokens. Raise “Max tokens”, or ask the model to
        continue.
      </Notice>
    );
  }
  if (finishReason === "content_filter")
    return <Notice kind="warning">A content filter ended the answer. The trace names the guardrail.</Notice>;
  if (state === "done" && text === "" && answer.refusal === "" && toolCalls.length === 0)
    return <p class="small muted">The answer is empty.</p>;
  return null;
}

function FailedAnswer({
  error,
  incomplete,
  model,
  actions,
}: {
  readonly error: AnswerError;
  readonly incomplete: boolean;
  readonly model: string;
  readonly actions: AnswerActions;
}) {
  const remainingMs = useRemaining(error.retryAtMs);
  return (
    <div class="notice error" role="alert">
      <div class="stack">
        <p>
          <strong>{titleOf(error, incomplete)}</strong>
        </p>
        <p class="foreign">{error.message}</p>
        {error.status >= 502 && (
          <p>
            <a href={href(`models/${model}`)}>See the state of this model</a>, or select another one.
          </p>
        )}
        {error.requestId !== undefined && (
          <p class="small">
            Request ID: <code>{error.requestId}</code>
          </p>
        )}
        <div>
          <button
            type="button"
            class="button"
            disabled={remainingMs > 0 || actions.busy}
            onClick={() => actions.regenerate()}
          >
            {remainingMs > 0 ? `Try again in ${formatDuration(Math.ceil(remainingMs / 1000) * 1000)}` : "Try again"}
          </button>
        </div>
      </div>
    </div>
  );
}

function titleOf({ status, code, param }: AnswerError, incomplete: boolean): string {
  if (incomplete) return "The answer is incomplete";
  if (code === "insufficient_quota") return "The budget is used up";
  if (code === "model_not_found" || code === "model_not_allowed") return "Your key cannot call this model";
  if (status === 429) return "Too many requests";
  if (status === 0) return "The server cannot be reached";
  if (param?.startsWith("messages") === true) return "The message was not accepted";
  if (param !== undefined) return `“${param}” was not accepted`;
  if (status >= 502) return "The model is not available right now";
  return "The model did not answer";
}

/** Milliseconds until a moment; counts down. */
function useRemaining(untilMs: number | undefined): number {
  const remaining = useSignal(Math.max(0, (untilMs ?? 0) - Date.now()));
  useEffect(() => {
    if (untilMs === undefined) return;
    const timer = setInterval(() => {
      remaining.value = Math.max(0, untilMs - Date.now());
      if (remaining.value === 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [untilMs]);
  return remaining.value;
}
