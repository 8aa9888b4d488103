/** The list of conversations, the most recent first. */
import { useEffect } from "preact/hooks";
import { Icon } from "../../design/icons.tsx";
import { EmptyState } from "../../design/states.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { setParameters } from "../../state/address.ts";
import { moments } from "../../state/time-range.ts";
import { createListMemory, followQuestion } from "../../telemetry/follow-question.ts";
import { ListContent } from "../../telemetry/list-content.tsx";
import { createPagedList } from "../../telemetry/paged-list.ts";
import { ProjectSelect } from "../../telemetry/project-select.tsx";
import { WiderRange } from "../../telemetry/wider-range.tsx";
import { conversationFilters, conversationQuestion, type Conversation } from "./conversation-list.ts";
import { ConversationTable } from "./conversation-table.tsx";
import { ServiceSelect } from "./service-select.tsx";

const list = createPagedList<Conversation>();
const memory = createListMemory();

function ask() {
  const filters = conversationFilters.value;
  return { filters, options: conversationQuestion(filters, () => moments.peek()) };
}

export function ConversationListView() {
  useEffect(() => followQuestion(list, memory, ask), []);
  const { search = "" } = conversationFilters.value;
  return (
    <div class="view fixed conversations">
      <ViewHeader title="Conversations" time />
      <div class="conversations-filters">
        <form
          class="conversations-search"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            const text = new FormData(event.currentTarget).get("search");
            setParameters({ search: typeof text === "string" && text.trim() !== "" ? text.trim() : undefined });
          }}
        >
          <Icon name="search" />
          <input
            key={search}
            class="input"
            type="search"
            name="search"
            aria-label="Part of the conversation's ID"
            placeholder="Part of the conversation's ID"
            defaultValue={search}
            maxLength={1024}
            autocomplete="off"
          />
        </form>
        <ProjectSelect />
        <ServiceSelect />
      </div>
      <ListContent
        list={list}
        nouns={["conversation", "conversations"]}
        icon="conversations"
        empty={<NoConversations />}
        reload={() => list.load(ask().options)}
      >
        <ConversationTable list={list} memory={memory} />
      </ListContent>
    </div>
  );
}

function NoConversations() {
  const isFiltered = Object.values(conversationFilters.value).some((value) => value !== undefined);
  if (isFiltered) {
    return (
      <EmptyState title="No conversations match" icon="conversations">
        <div class="row">
          <button
            type="button"
            class="button"
            onClick={() => setParameters({ search: undefined, project: undefined, service_name: undefined })}
          >
            Clear the filters
          </button>
          <WiderRange />
        </div>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No conversations in this time range" icon="conversations">
      <p>
        A conversation consists of the traces whose spans have the same attribute <code>gen_ai.conversation.id</code> or{" "}
        <code>session.id</code>. Set one of them in your application for every turn.
      </p>
      <WiderRange />
    </EmptyState>
  );
}
