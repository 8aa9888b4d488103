/** Lists conversations: the traces whose spans have the same conversation ID. */
import type { Conversations } from "../../api/observability-conversations.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { containsText, serviceCondition } from "../attribute-condition.ts";
import { allOf, projectCondition, startTimeCondition } from "../conditions.ts";
import { expandingWindows } from "../expanding-windows.ts";
import type { TimeRange } from "../time-window.ts";
import type { CostOfModels } from "./model-cost.ts";
import { encodeCursor, type NewestFirstCursor } from "./newest-first-cursor.ts";
import { maximumServices } from "./tempo-trace.ts";
import { callsOfModels, spansOfTraces, toModels, type CallsOfModels } from "./trace-heads.ts";

type Conversation = Conversations["data"][number];

export interface ConversationsSearch {
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
  readonly conversationId: string | undefined;
  readonly service: string | undefined;
  /** Part of the ID, in upper or lower case. */
  readonly search: string | undefined;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  /** Where the previous page ended. */
  readonly after: NewestFirstCursor | undefined;
  readonly limit: number;
  readonly costOf: CostOfModels;
  readonly signal: AbortSignal;
}

interface FoundConversation {
  readonly session_id: string;
  /** The start of its newest span. */
  readonly newest_nano: string;
}

/** The most recent first. @throws AppError as the store does */
export async function listConversations(reader: TenantReader, search: ConversationsSearch): Promise<Conversations> {
  const { after, limit } = search;
  const fromUnixNano = after?.fromUnixNano ?? search.range.fromUnixNano;
  const paged = { ...search, range: { ...search.range, fromUnixNano } };
  // One more than the page has shows whether there is a next one.
  const all = await newestConversations(reader, paged, limit + 1);
  const found = all.slice(0, limit);
  const last = found.at(-1);
  const next =
    all.length <= limit || last === undefined
      ? null
      : encodeCursor({ unixNano: last.newest_nano, id: last.session_id, fromUnixNano });
  return { data: await readConversations(reader, paged, found), next_cursor: next };
}

/** By the start of their newest span, then by ID. */
async function newestConversations(
  reader: TenantReader,
  search: ConversationsSearch,
  count: number,
): Promise<FoundConversation[]> {
  const { after, nowUnixNano, range, signal } = search;
  const matches = conversationCondition(search);
  const last = after === undefined ? range.toUnixNano : BigInt(after.unixNano);
  const left = { ...range, toUnixNano: last < range.toUnixNano ? last : range.toUnixNano };
  const found = new Map<string, FoundConversation>();
  for (const step of expandingWindows(left, left.toUnixNano < nowUnixNano ? left.toUnixNano : nowUnixNano)) {
    const conditions = allOf([
      matches,
      startTimeCondition(step),
      after === undefined ? undefined : sql`session_id NOT IN ${listed(matches, after, range)}`,
    ]);
    const rows = await reader.query<FoundConversation>(
      sql`SELECT session_id, toUnixTimestamp64Nano(max(start_time)) AS newest_nano FROM spans WHERE ${conditions}
        GROUP BY session_id ORDER BY newest_nano DESC, session_id LIMIT ${bind.uint32(count)}`,
      { signal, duplicates: "kept" },
    );
    for (const row of rows) if (found.size < count && !found.has(row.session_id)) found.set(row.session_id, row);
    if (found.size >= count) break;
  }
  return [...found.values()];
}

/** The conversations that are not after the cursor in the order of results. */
function listed(matches: Statement, { id, unixNano }: NewestFirstCursor, range: TimeRange): Statement {
  const since = startTimeCondition({ ...range, fromUnixNano: BigInt(unixNano) });
  return sql`(SELECT session_id FROM spans WHERE ${matches} AND ${since}
    AND (start_time > ${bind.time(unixNano)} OR session_id <= ${bind.text(id)}))`;
}

function conversationCondition({ conversationId, project, search, service }: ConversationsSearch): Statement {
  return allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    conversationId === undefined
      ? sql`length(session_id) BETWEEN 1 AND 1024`
      : sql`session_id = ${bind.text(conversationId)}`,
    service === undefined ? undefined : serviceCondition(service),
    search === undefined ? undefined : containsText(sql`session_id`, search),
  ]);
}

interface ConversationRow {
  readonly conversation: string;
  readonly turns: string;
  readonly start_nano: string;
  readonly end_nano: string;
  readonly errors: string;
  readonly models: CallsOfModels;
  readonly projects: string[];
  readonly services: string[];
}

/** In the order of `found`. All spans of the traces count, not only those with the conversation's ID. */
async function readConversations(
  reader: TenantReader,
  { costOf, project, range, signal }: ConversationsSearch,
  found: readonly FoundConversation[],
): Promise<Conversation[]> {
  if (found.length === 0) return [];
  const ids = bind.texts(found.map(({ session_id }) => session_id));
  const ofRange = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(range),
  ]);
  const condition = sql`${ofRange} AND trace_id IN (SELECT trace_id FROM spans WHERE ${ofRange} AND session_id IN ${ids})`;
  const rows = await reader.query<ConversationRow>(
    sql`SELECT conversation, count() AS turns, min(trace_start) AS start_nano, max(trace_end) AS end_nano,
        sum(trace_errors) AS errors, sumMap(trace_models) AS models, groupUniqArrayArray(trace_projects) AS projects,
        groupUniqArrayArray(trace_services) AS services
      FROM (
        SELECT trace_id, arrayJoin(groupUniqArrayIf(session_id, session_id IN ${ids})) AS conversation,
          toUnixTimestamp64Nano(min(start_time)) AS trace_start, toUnixTimestamp64Nano(max(end_time)) AS trace_end,
          countIf(status_code = 2) AS trace_errors, ${callsOfModels} AS trace_models,
          groupUniqArray(project) AS trace_projects, groupUniqArray(service) AS trace_services
        FROM ${spansOfTraces(condition)} GROUP BY trace_id
      ) GROUP BY conversation`,
    { signal, duplicates: "kept" },
  );
  const byId = new Map(rows.map((row) => [row.conversation, toConversation(row, costOf)]));
  return found.flatMap(({ session_id }) => byId.get(session_id) ?? []);
}

function toConversation(row: ConversationRow, costOf: CostOfModels): Conversation {
  const called = toModels(row.models);
  const models = called.map(({ counts }) => counts);
  const sum = (count: Exclude<keyof (typeof models)[number], "model">): number =>
    models.reduce((total, model) => total + model[count], 0);
  return {
    id: row.conversation,
    started_at: toRfc3339(row.start_nano),
    ended_at: toRfc3339(row.end_nano),
    turns: Number(row.turns),
    calls: sum("calls"),
    errors: Number(row.errors),
    input_tokens: sum("inputTokens"),
    output_tokens: sum("outputTokens"),
    cache_read_tokens: sum("cacheReadTokens"),
    cache_write_tokens: sum("cacheWriteTokens"),
    cost: costOf(called),
    models: models.map(({ calls, cacheReadTokens, cacheWriteTokens, inputTokens, model, outputTokens }) => ({
      model,
      calls,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cache_read_tokens: cacheReadTokens,
      cache_write_tokens: cacheWriteTokens,
    })),
    projects: row.projects.toSorted(),
    services: row.services
      .filter((service) => service !== "")
      .toSorted()
      .slice(0, maximumServices),
  };
}

function toRfc3339(unixNano: string): string {
  return new Date(Number(BigInt(unixNano) / 1_000_000n)).toISOString();
}
