/** The conversations as a table that renders only the rows in sight. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatAge, formatCost, formatCount, formatDuration, formatTime } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { VirtualList, type VirtualListHandle } from "../../design/virtual-list.tsx";
import { href, navigate } from "../../state/address.ts";
import type { ListMemory } from "../../telemetry/follow-question.ts";
import { useListKeys, useRowHeight, useUnmovedRows } from "../../telemetry/list-place.ts";
import type { PagedList } from "../../telemetry/paged-list.ts";
import type { Conversation } from "./conversation-list.ts";

const columns = [
  ["name", "Conversation"],
  ["time", "Last active"],
  ["length", "Length"],
  ["turns", "Turns"],
  ["calls", "Calls"],
  ["errors", "Errors"],
  ["services", "Services"],
  ["models", "Models"],
  ["tokens", "Tokens in / out"],
  ["cost", "Cost"],
] as const;

/** From this many rows before the end, the next page is loaded. */
const reach = 20;
const mostCharacters = 200;

const idOf = ({ id }: Conversation): string => id;

export function ConversationTable({
  list,
  memory,
}: {
  readonly list: PagedList<Conversation>;
  readonly memory: ListMemory;
}) {
  const handle = useRef<VirtualListHandle>(undefined!);
  const rowHeight = useRowHeight();
  const place = { items: list.items, idOf, handle, rowHeight };
  const { selected } = memory;
  useListKeys({
    ...place,
    selected,
    open: ({ id }) => navigate(href(`conversations/${id}`)),
    noun: "conversation",
  });
  const { unseen, onScroll, toTop } = useUnmovedRows(place);
  useLayoutEffect(() => handle.current?.element?.scrollTo({ top: memory.scrollTop }), []);
  const conversations = list.items.value ?? [];
  return (
    <div
      class={`conversations-table ${list.loading.value ? "loading" : ""}`}
      role="table"
      aria-label="Conversations"
      aria-rowcount={list.hasMore.value ? -1 : conversations.length + 1}
      aria-busy={list.loading.value}
    >
      <div class="conversations-row conversations-head" role="row" aria-rowindex={1}>
        {columns.map(([name, title]) => (
          <div key={name} class={`conversations-${name}`} role="columnheader">
            {title}
          </div>
        ))}
      </div>
      {unseen.value > 0 && (
        <button type="button" class="button primary conversations-unseen" onClick={toTop}>
          <Icon name="up" size={12} />
          {formatCount(unseen.value)} new
        </button>
      )}
      <VirtualList
        count={conversations.length}
        rowHeight={rowHeight}
        role="rowgroup"
        label="Conversations, the most recent first"
        handle={handle}
        keyOf={(index) => conversations[index]?.id ?? index}
        onReach={(index) => {
          if (index >= conversations.length - reach) list.more();
        }}
        onScroll={(element) => {
          memory.scrollTop = element.scrollTop;
          onScroll(element);
        }}
        renderRow={(index) => (
          <Row
            conversation={conversations[index]!}
            index={index}
            selected={conversations[index]!.id === selected.value}
          />
        )}
      />
    </div>
  );
}

function Row({
  conversation,
  index,
  selected,
}: {
  readonly conversation: Conversation;
  readonly index: number;
  readonly selected: boolean;
}) {
  const { id, started_at, ended_at, turns, calls, errors, input_tokens, output_tokens, cost } = conversation;
  const endMs = Date.parse(ended_at);
  const models = conversation.models.map(({ model }) => model.slice(0, mostCharacters)).join(", ");
  const services = conversation.services.map((service) => service.slice(0, mostCharacters)).join(", ");
  return (
    <div
      class={`conversations-row ${selected ? "selected" : ""}`}
      role="row"
      aria-rowindex={index + 2}
      aria-current={selected ? "true" : undefined}
    >
      <div class="conversations-name" role="cell">
        <a class="clip" dir="auto" href={href(`conversations/${id}`)} title={id.slice(0, mostCharacters)}>
          {id.slice(0, mostCharacters)}
        </a>
      </div>
      <div class="conversations-time muted" role="cell">
        <time dateTime={ended_at} title={formatTime(endMs)}>
          {formatAge(endMs)}
        </time>
      </div>
      <div class="conversations-length" role="cell">
        {formatDuration(endMs - Date.parse(started_at))}
      </div>
      <div class="conversations-turns" role="cell">
        {formatCount(turns)}
        <span class="conversations-unit">{turns === 1 ? " turn" : " turns"}</span>
      </div>
      <div class="conversations-calls" role="cell">
        {formatCount(calls)}
      </div>
      <div class="conversations-errors" role="cell">
        {errors === 0 ? (
          <span class="muted">–</span>
        ) : (
          <span class="badge error">
            <Icon name="error" size={12} />
            {formatCount(errors)}
          </span>
        )}
      </div>
      <div class="conversations-services clip" role="cell" dir="auto" title={services}>
        {services}
      </div>
      <div class="conversations-models clip" role="cell" dir="auto" title={models}>
        {models}
      </div>
      <div class="conversations-tokens" role="cell">
        {input_tokens + output_tokens === 0 ? "" : `${formatCount(input_tokens)} / ${formatCount(output_tokens)}`}
      </div>
      <div class="conversations-cost" role="cell">
        {cost === null ? "" : formatCost(cost)}
      </div>
    </div>
  );
}
