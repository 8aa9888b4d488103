/** What an answer cost: tokens, times, money; and what can be done with it. */
import { useSignal } from "@preact/signals";
import { CopyButton } from "../../../design/copy-button.tsx";
import { formatCost, formatCount, formatDuration } from "../../../design/format.ts";
import { Icon } from "../../../design/icons.tsx";
import { href } from "../../../state/address.ts";
import { may } from "../../../state/session.ts";
import type { AnswerActions } from "./answer-actions.ts";
import { CodeDialog } from "./code-dialog.tsx";
import type { Answer } from "./conversation.ts";

export function AnswerFooter({ answer, actions }: { readonly answer: Answer; readonly actions: AnswerActions }) {
  const showsCode = useSignal(false);
  const { traceId, request } = answer;
  return (
    <footer class="chat-footer">
      <dl class="chat-metrics">
        {metricsOf(answer).map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="row chat-actions">
        {traceId !== undefined && may("telemetry_read") && (
          <a class="button quiet" href={href(`traces/${traceId}`)}>
            <Icon name="traces" />
            Trace
          </a>
        )}
        {request !== undefined && (
          <button type="button" class="button quiet" onClick={() => (showsCode.value = true)}>
            <Icon name="code" />
            Code
          </button>
        )}
        {answer.text !== "" && <CopyButton text={answer.text} label="Copy the answer" iconOnly />}
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Regenerate"
          title="Regenerate"
          disabled={actions.busy}
          onClick={() => actions.regenerate()}
        >
          <Icon name="refresh" />
        </button>
      </div>
      {showsCode.value && request !== undefined && (
        <CodeDialog body={request} onClose={() => (showsCode.value = false)} />
      )}
    </footer>
  );
}

interface Metric {
  readonly name: string;
  readonly value: string;
}

function metricsOf(answer: Answer): Metric[] {
  const { promptTokens, completionTokens, reasoningTokens = 0, firstTokenMs, durationMs, cost, finishReason } = answer;
  const metrics: Metric[] = [];
  if (promptTokens !== undefined && completionTokens !== undefined) {
    const reasoning = reasoningTokens > 0 ? ` (${formatCount(reasoningTokens)} reasoning)` : "";
    metrics.push({
      name: "Tokens",
      value: `${formatCount(promptTokens)} in, ${formatCount(completionTokens)} out${reasoning}`,
    });
  }
  if (firstTokenMs !== undefined) metrics.push({ name: "First token", value: formatDuration(firstTokenMs) });
  const streamedMs = (durationMs ?? 0) - (firstTokenMs ?? 0);
  if (completionTokens !== undefined && completionTokens > 1 && streamedMs > 1)
    metrics.push({
      name: "Speed",
      value: `${formatCount(Math.round((completionTokens - 1) / (streamedMs / 1000)))} tokens/s`,
    });
  if (durationMs !== undefined) metrics.push({ name: "Total", value: formatDuration(durationMs) });
  if (cost !== undefined) metrics.push({ name: "Cost", value: formatCost(cost) });
  if (finishReason !== undefined) metrics.push({ name: "Finish", value: finishReason });
  return metrics;
}
