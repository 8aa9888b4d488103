/** One conversation: its totals, and its turns in order. */
import { useSignal } from "@preact/signals";
import type { Conversations } from "@sounding/client";
import { useEffect, useMemo } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { CopyButton } from "../../design/copy-button.tsx";
import { formatCost, formatCount, formatTime } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { ContentHint } from "../../genai/content-hint.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { href } from "../../state/address.ts";
import { may } from "../../state/session.ts";
import { viewAddress } from "../../shell/view-address.ts";
import { ViewHeader } from "../../shell/view-header.tsx";
import { createPagedList } from "../../telemetry/paged-list.ts";
import type { Conversation } from "./conversation-list.ts";
import { DeleteConversationDialog } from "./delete-conversation-dialog.tsx";
import { TurnCard } from "./turn-card.tsx";
import { turnsQuestion, type Turn } from "./turns.ts";

const reachMs = 30 * 86_400_000;

/** @param id as in the address: may be anything */
export function ConversationView({ id }: { readonly id: string }) {
  const list = useMemo(() => createPagedList<Turn>(), [id]);
  const start = useMemo(() => new Date(Date.now() - reachMs).toISOString(), [id]);
  const summary = useQuery(
    (signal) => {
      const json = { conversation_id: id, start };
      return requestJson<Conversations>("observability/conversations", { json, signal });
    },
    [id],
  );
  const load = () => list.load(turnsQuestion(id, start));
  useEffect(() => {
    load();
    return () => list.cancel();
  }, [list]);
  const refresh = () => {
    summary.reload();
    load();
  };
  useShortcuts(() => [{ keys: "r", description: "Refresh", group: "This view", run: refresh }], [list]);
  const [conversation] = summary.data.value?.data ?? [];
  const deleting = useSignal(false);
  return (
    <div class="view conversation">
      <ViewHeader
        title={
          <span class="conversation-title">
            <a href={viewAddress("conversations")}>Conversations</a>
            <Icon name="right" size={12} />
            <span class="foreign">{id.slice(0, 300)}</span>
          </span>
        }
      >
        <CopyButton text={id} label="Copy ID" />
        <a class="button" href={href("traces", { conversation_id: id, from: "now-30d" })}>
          <Icon name="traces" />
          Traces
        </a>
        {conversation !== undefined && may("admin") && (
          <button type="button" class="button danger" onClick={() => (deleting.value = true)}>
            Delete
          </button>
        )}
        <button type="button" class="button quiet icon-only" aria-label="Refresh" title="Refresh" onClick={refresh}>
          <Icon name="refresh" />
        </button>
      </ViewHeader>
      {deleting.value && <DeleteConversationDialog id={id} onClose={() => (deleting.value = false)} />}
      {conversation !== undefined && <Totals conversation={conversation} />}
      {summary.error.value !== undefined && (
        <Notice kind="warning">
          The totals could not be loaded: <span class="foreign">{summary.error.value.message}</span>
        </Notice>
      )}
      <Turns list={list} reload={load} turns={conversation?.turns} project={conversation?.projects[0]} />
    </div>
  );
}

function Totals({ conversation }: { readonly conversation: Conversation }) {
  const { started_at, ended_at, turns, calls, errors, input_tokens, output_tokens, cost } = conversation;
  const numbers: readonly (readonly [name: string, value: string])[] = [
    ["Turns", formatCount(turns)],
    ["Model calls", formatCount(calls)],
    ["Failed spans", formatCount(errors)],
    ["Tokens in / out", `${formatCount(input_tokens)} / ${formatCount(output_tokens)}`],
    ...(cost === null ? [] : [["Cost", formatCost(cost)] as const]),
    ["First", formatTime(Date.parse(started_at))],
    ["Last", formatTime(Date.parse(ended_at))],
    ["Models", conversation.models.map(({ model }) => model.slice(0, 100)).join(", ") || "–"],
    ["Services", conversation.services.map((service) => service.slice(0, 100)).join(", ") || "–"],
    ["Project", conversation.projects.map((project) => project.slice(0, 100)).join(", ")],
  ];
  return (
    <dl class="conversation-totals card">
      {numbers.map(([name, value]) => (
        <div key={name}>
          <dt class="small muted">{name}</dt>
          <dd class="foreign" dir="auto">
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Turns({
  list,
  reload,
  turns,
  project,
}: {
  readonly list: ReturnType<typeof createPagedList<Turn>>;
  readonly reload: () => void;
  /** How many there are, if known. */
  readonly turns: number | undefined;
  readonly project: string | undefined;
}) {
  const { error, hasMore, items, loading, loadingMore } = list;
  if (items.value === undefined) {
    if (error.value !== undefined) return <ErrorState error={error.value} onRetry={reload} />;
    if (loading.value) return <Loading what="the conversation" onCancel={() => list.cancel()} />;
    return (
      <EmptyState title="The query was cancelled" icon="conversations">
        <button type="button" class="button" onClick={reload}>
          Load again
        </button>
      </EmptyState>
    );
  }
  if (items.value.length === 0) {
    return (
      <EmptyState title="This conversation was not found" icon="conversations">
        <p>It is older than 30 days, its data has expired, or it belongs to another organization or project.</p>
        <a class="button" href={viewAddress("conversations")}>
          Go to the list of conversations
        </a>
      </EmptyState>
    );
  }
  const shown = items.value.toReversed();
  const first = hasMore.value ? (turns === undefined ? undefined : turns - shown.length + 1) : 1;
  return (
    <div class="conversation-turns">
      {items.value.some(({ lacksContent }) => lacksContent) && <ContentHint project={project} />}
      {error.value !== undefined && (
        <Notice kind="error">
          <span class="foreign">{error.value.message}</span>
        </Notice>
      )}
      {hasMore.value && (
        <button
          type="button"
          class="button conversation-earlier"
          disabled={loadingMore.value}
          onClick={() => list.more({ again: true })}
        >
          {loadingMore.value ? "Loading earlier turns…" : "Show earlier turns"}
        </button>
      )}
      {shown.map((turn, index) => (
        <TurnCard
          key={turn.trace.traceID}
          turn={turn}
          number={first === undefined || first < 1 ? undefined : first + index}
        />
      ))}
    </div>
  );
}
