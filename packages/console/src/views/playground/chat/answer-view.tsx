/** One answer of a model: its text, reasoning, tool calls, and how it went. It alone is rendered while it streams. */
import { useSignal } from "@preact/signals";
import { ClippedText } from "../../../design/clipped-text.tsx";
import { formatCount } from "../../../design/format.ts";
import type { AnswerActions } from "./answer-actions.ts";
import { AnswerFooter } from "./answer-footer.tsx";
import { AnswerProblem } from "./answer-problem.tsx";
import { isRunning, type Answer, type Step } from "./conversation.ts";
import { parseJsonText } from "./json-text.ts";
import { Markdown } from "./markdown.tsx";
import { TokenView } from "./token-view.tsx";
import { ToolCalls } from "./tool-calls.tsx";

export function AnswerView({ step, actions }: { readonly step: Step; readonly actions: AnswerActions }) {
  const answer = step.answer.value;
  const showsTokens = useSignal(true);
  const running = isRunning(answer);
  return (
    <article class={`chat-answer ${answer.state}`} aria-busy={running} aria-label={`Answer of ${answer.model}`}>
      <header class="chat-author">
        <span class="clip">{answer.model}</span>
        {running && <span class="chat-pulse" aria-hidden="true" />}
        {answer.tokens.length > 0 && (
          <button
            type="button"
            class="button quiet small spread"
            aria-pressed={showsTokens.value}
            onClick={() => (showsTokens.value = !showsTokens.value)}
          >
            Probabilities
          </button>
        )}
      </header>
      {answer.reasoning !== "" && <Reasoning answer={answer} />}
      {answer.tokens.length > 0 && showsTokens.value ? (
        <TokenView tokens={answer.tokens} />
      ) : (
        answer.text !== "" && <Markdown text={answer.text} />
      )}
      {answer.refusal !== "" && (
        <p class="notice warning">
          <ClippedText text={answer.refusal} />
        </p>
      )}
      <ToolCalls step={step} actions={actions} />
      {answer.state === "done" && <FormatCheck answer={answer} />}
      <AnswerProblem answer={answer} actions={actions} />
      {!running && <AnswerFooter answer={answer} actions={actions} />}
    </article>
  );
}

/** Folded, unless nothing else has come yet. */
function Reasoning({ answer }: { readonly answer: Answer }) {
  const open = useSignal(false);
  return (
    <details class="chat-reasoning" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        Reasoning
        <span class="muted"> · {formatCount(answer.reasoning.length)} characters</span>
      </summary>
      {open.value && <ClippedText text={answer.reasoning} limit={20_000} />}
    </details>
  );
}

/** Whether an answer that was to be JSON is JSON. */
function FormatCheck({ answer }: { readonly answer: Answer }) {
  const format = answer.request?.["response_format"] as { readonly type: string } | undefined;
  if (format === undefined || format.type === "text" || answer.text === "") return null;
  const { problem } = parseJsonText(answer.text);
  return (
    <p>
      {problem === undefined ? (
        <span class="badge success">Valid JSON</span>
      ) : (
        <>
          <span class="badge error">Invalid JSON</span> <span class="small foreign">{problem}</span>
        </>
      )}
    </p>
  );
}
