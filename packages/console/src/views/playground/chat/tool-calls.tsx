/** The tools that an answer calls, and fields for their results. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { ClippedText } from "../../../design/clipped-text.tsx";
import type { AnswerActions } from "./answer-actions.ts";
import { missesResults, type Step, type ToolCall } from "./conversation.ts";
import { parseJsonText } from "./json-text.ts";

export function ToolCalls({ step, actions }: { readonly step: Step; readonly actions: AnswerActions }) {
  const { toolCalls } = step.answer.value;
  const written = useSignal<Readonly<Record<string, string>>>({});
  if (toolCalls.length === 0) return null;
  const asks = missesResults(step) && actions.last;
  const missing = toolCalls.filter(({ id }) => (written.value[id] ?? "").trim() === "");
  return (
    <form
      class="chat-tools"
      onSubmit={(event) => {
        event.preventDefault();
        if (missing.length === 0) actions.sendResults(written.value);
      }}
    >
      {toolCalls.map((call, index) => (
        <ToolCallCard
          key={index}
          call={call}
          result={step.results[call.id]}
          onInput={asks ? (text) => (written.value = { ...written.value, [call.id]: text }) : undefined}
        />
      ))}
      {asks && (
        <div>
          <button type="submit" class="button primary" disabled={missing.length > 0 || actions.busy}>
            Send {toolCalls.length === 1 ? "the result" : "the results"} and continue
          </button>
        </div>
      )}
    </form>
  );
}

function ToolCallCard({
  call,
  result,
  onInput,
}: {
  readonly call: ToolCall;
  readonly result: string | undefined;
  readonly onInput: ((text: string) => void) | undefined;
}) {
  const id = useId();
  const { value, problem } = parseJsonText(call.arguments);
  return (
    <div class="chat-tool" role="group" aria-label={`Call of the tool ${call.name}`}>
      <p>
        <span class="badge">Tool call</span> <code class="foreign">{call.name}</code>
      </p>
      <div class="chat-arguments mono">
        <ClippedText text={problem === undefined ? JSON.stringify(value, null, 2) : call.arguments} />
      </div>
      {result !== undefined && (
        <>
          <p class="small muted">Result</p>
          <div class="chat-arguments mono">
            <ClippedText text={result} />
          </div>
        </>
      )}
      {onInput !== undefined && (
        <div class="field">
          <label for={id}>Result of {call.name}</label>
          <textarea
            id={id}
            class="textarea mono"
            rows={2}
            dir="auto"
            placeholder='What the tool returns, for example {"temperature": 21}'
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        </div>
      )}
    </div>
  );
}
