/** One turn of a conversation: the prompt and the answer, when it was, how long it took, and what it cost. */
import { formatCost, formatCount, formatDuration, formatTime } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { Messages } from "../../genai/messages.tsx";
import { href } from "../../state/address.ts";
import { TraceStatus } from "../traces/trace-status.tsx";
import type { Turn } from "./turns.ts";

const mostCharacters = 200;

export function TurnCard({
  turn: { trace, prompt, answer, toolCalls },
  number,
}: {
  readonly turn: Turn;
  /** Counted from the first turn; undefined until that is loaded. */
  readonly number: number | undefined;
}) {
  const { summary, traceID, rootTraceName, startTimeUnixNano } = trace;
  const startMs = Number(BigInt(startTimeUnixNano) / 1_000_000n);
  const calls = summary.models.reduce((sum, model) => sum + model.calls, 0);
  const tokensIn = summary.models.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
  const tokensOut = summary.models.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  const messages = [prompt, answer].filter((message) => message !== undefined);
  const name = rootTraceName.slice(0, mostCharacters);
  return (
    <article class="conversation-turn" aria-label={number === undefined ? "Turn" : `Turn ${number}`}>
      <header class="conversation-turn-head">
        {number !== undefined && <span class="badge">{number}</span>}
        <time class="muted" dateTime={new Date(startMs).toISOString()}>
          {formatTime(startMs)}
        </time>
        <span class="clip" dir="auto" title={name}>
          {name}
        </span>
        {(summary.status !== "unset" || summary.errorCount > 0) && (
          <TraceStatus status={summary.status} errors={summary.errorCount} />
        )}
        <a class="spread" href={href(`traces/${traceID}`)}>
          Open trace
          <Icon name="right" size={12} />
        </a>
      </header>
      {messages.length > 0 && <Messages messages={messages} label="Prompt and answer" />}
      <ul class="conversation-turn-numbers small muted">
        <li>{formatDuration(Number(summary.durationNanos) / 1e6)}</li>
        {calls > 0 && (
          <li>
            {formatCount(calls)} model {calls === 1 ? "call" : "calls"}
          </li>
        )}
        {toolCalls > 0 && (
          <li>
            {formatCount(toolCalls)} tool {toolCalls === 1 ? "call" : "calls"}
          </li>
        )}
        {tokensIn + tokensOut > 0 && (
          <li>
            {formatCount(tokensIn)} / {formatCount(tokensOut)} tokens
          </li>
        )}
        {summary.cost !== null && <li>cost {formatCost(summary.cost)}</li>}
        {summary.models.length > 0 && (
          <li class="clip" dir="auto">
            {summary.models.map(({ model }) => model.slice(0, mostCharacters)).join(", ")}
          </li>
        )}
      </ul>
    </article>
  );
}
