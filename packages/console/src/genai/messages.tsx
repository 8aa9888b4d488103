/** Messages as a conversation: roles, text, reasoning, tool calls and their results, and placeholders for media. */
import { useSignal } from "@preact/signals";
import { ClippedText } from "../design/clipped-text.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { formatCount } from "../design/format.ts";
import { Icon, type IconName } from "../design/icons.tsx";
import type { Message, MessagePart } from "./messages.ts";

/** Earlier messages of a long conversation appear on demand. */
const shownAtFirst = 30;

export function Messages({ messages, label }: { readonly messages: readonly Message[]; readonly label: string }) {
  const all = useSignal(false);
  const hidden = all.value ? 0 : Math.max(0, messages.length - shownAtFirst);
  return (
    <div class="messages" role="group" aria-label={label}>
      {hidden > 0 && (
        <button type="button" class="button quiet" onClick={() => (all.value = true)}>
          Show {formatCount(hidden)} earlier {hidden === 1 ? "message" : "messages"}
        </button>
      )}
      {messages.slice(hidden).map((message, index) => (
        <MessageCard key={hidden + index} message={message} />
      ))}
    </div>
  );
}

const roleNames: Readonly<Record<string, string>> = {
  system: "System",
  developer: "Developer",
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
};

/** Reasons to finish that need no mention. */
const usualReasons = new Set(["stop", "end_turn", "tool_call", "tool_calls", "tool-calls", "unknown"]);

function MessageCard({ message: { role, parts, finishReason } }: { readonly message: Message }) {
  const kind = role in roleNames ? role : "other";
  const text = parts.map((part) => ("text" in part ? part.text : "input" in part ? part.input : "")).join("\n");
  return (
    <article class={`message ${kind}`}>
      <header class="message-head">
        <span class="message-role clip">{roleNames[role] ?? role.slice(0, 80)}</span>
        {finishReason !== undefined && !usualReasons.has(finishReason) && (
          <span class="badge warning" title="Why the model stopped">
            <span class="clip">{finishReason.slice(0, 40)}</span>
          </span>
        )}
        <span class="spread">{text !== "" && <CopyButton text={text} label="Copy message" iconOnly />}</span>
      </header>
      {parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </article>
  );
}

function Part({ part }: { readonly part: MessagePart }) {
  switch (part.kind) {
    case "text":
      return (
        <div class="message-text">
          <ClippedText text={part.text} />
        </div>
      );
    case "reasoning":
      return (
        <details class="message-reasoning">
          <summary>Reasoning</summary>
          <ClippedText text={part.text} />
        </details>
      );
    case "tool-call":
      return (
        <ToolPart title={part.name === "" ? "Tool call" : part.name} id={part.id} text={part.input} icon="right" />
      );
    case "tool-result":
      return (
        <ToolPart
          title={part.name === "" ? "Result" : `Result of ${part.name}`}
          id={part.id}
          text={part.text}
          icon="left"
        />
      );
    case "media":
      return (
        <div class="message-media">
          <Icon name="external" />
          <span class="clip">{mediaName(part.type)}</span>
          <span class="muted clip">{part.source === "" ? "its data is not recorded" : part.source.slice(0, 300)}</span>
        </div>
      );
  }
}

function ToolPart({
  title,
  id,
  text,
  icon,
}: {
  readonly title: string;
  readonly id: string;
  readonly text: string;
  readonly icon: IconName;
}) {
  return (
    <div class="message-tool">
      <div class="message-tool-head" title={id === "" ? undefined : id.slice(0, 200)}>
        <Icon name={icon} size={12} />
        <code class="clip">{title.slice(0, 200)}</code>
      </div>
      {text !== "" && text !== "{}" && (
        <div class="message-tool-text mono">
          <ClippedText text={text} limit={800} />
        </div>
      )}
    </div>
  );
}

function mediaName(type: string): string {
  const known = /image|audio|video/.exec(type)?.[0] ?? "file";
  return known.charAt(0).toUpperCase() + known.slice(1);
}
