/** Organizations with the same telemetry, to delete some of it in one and compare it with those that never had it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { createConnection } from "../../packages/server/src/store/connection.ts";
import type { Deletion } from "../../packages/server/src/api/deletions.ts";
import { otlpSender } from "./otlp-sender.ts";
import type { RunningServer } from "./running-server.ts";

export const hourNanos = 3_600_000_000_000n;
/** Within an hour that has ended, so that it can be summed. */
const now = BigInt(Date.now()) * 1_000_000n;
export const baseUnixNano = now - (now % hourNanos) - 2n * hourNanos + 60_000_000_000n;

export const conversation = "conv-6f1d2c77";
export const endUser = "user-6f1d2c77@example.com";

type Sender = ReturnType<typeof otlpSender>;
const hex = (digit: string, length: number) => digit.repeat(length);

interface Talk {
  readonly digit: string;
  readonly project: string;
  readonly conversation: string;
  readonly user: string;
  readonly startUnixNano: bigint;
}

/** A trace of an agent, two of whose spans name neither the conversation nor the user, with logs and metrics. */
async function sendTalk(sender: Sender, talk: Talk): Promise<void> {
  const { digit, project, startUnixNano, user } = talk;
  const resource = { "service.name": `app-${digit}`, "project.name": project, "host.name": `host-${digit}` };
  const traceId = hex(digit, 32);
  const ids = (parent: string, own: string) => ({
    traceId,
    spanId: hex(own, 16),
    more: {
      ...(parent === "" ? {} : { parentSpanId: hex(parent, 16) }),
      events: [{ timeUnixNano: String(startUnixNano), name: "e" }],
    },
    startUnixNano,
  });
  await sender.spans(resource, [
    { ...ids("", "1"), name: `request ${digit}` },
    {
      ...ids("1", "2"),
      name: `chat ${digit}`,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": `model-${digit}`,
        "gen_ai.conversation.id": talk.conversation,
        "user.id": user,
        "gen_ai.usage.input_tokens": 7n,
      },
    },
    { ...ids("1", "3"), name: `query ${digit}`, attributes: { [`only.${digit}`]: "x" } },
  ]);
  await sender.logs(resource, [
    { unixNano: startUnixNano, body: `of the trace ${digit}`, more: { traceId, spanId: hex("2", 16) } },
    {
      unixNano: startUnixNano + 1n,
      body: `of the session ${digit}`,
      more: {
        attributes: [
          { key: "session.id", value: { stringValue: talk.conversation } },
          { key: "enduser.id", value: { stringValue: user } },
        ],
      },
    },
  ]);
  const attributes = { "session.id": talk.conversation, "user.id": user };
  const times = { startUnixNano: startUnixNano - hourNanos, unixNano: startUnixNano, attributes };
  await sender.metrics(resource, [
    { ...times, name: `turns_${digit}`, sum: 3 },
    { ...times, name: `turn_seconds_${digit}`, histogram: { sum: 3, bounds: [1], counts: [1, 2] } },
  ]);
}

const talks: Readonly<Record<string, Talk>> = {
  one: { digit: "a", project: "default", conversation, user: endUser, startUnixNano: baseUnixNano },
  again: { digit: "b", project: "side", conversation, user: endUser, startUnixNano: baseUnixNano - hourNanos },
  other: { digit: "c", project: "default", conversation: "conv-kept", user: "user-kept", startUnixNano: baseUnixNano },
  aside: {
    digit: "d",
    project: "side",
    conversation: "conv-side",
    user: "user-side",
    startUnixNano: baseUnixNano - 30n * hourNanos,
  },
};
export type TalkName = keyof typeof talks;
export const everyTalk: readonly TalkName[] = Object.keys(talks);

export interface Tenant {
  readonly id: string;
  readonly key: string;
  /** What every query API answers. */
  answers(): Promise<Record<string, unknown>>;
}

export async function operate(
  server: RunningServer,
  method: string,
  path: string,
  body?: unknown,
  key = server.operatorKey,
) {
  const response = await fetch(`${server.url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests compare it
  return { status: response.status, body: (await response.json()) as any };
}

/** @param existing sends to it instead of a new organization */
export async function createTenant(
  server: RunningServer,
  name: string,
  sent: readonly TalkName[],
  existing?: Pick<Tenant, "id" | "key">,
): Promise<Tenant> {
  const { id, key } = existing ?? (await createOrganization(server, name));
  const sender = otlpSender(server.url, key);
  for (const talk of sent) await sendTalk(sender, talks[talk]!);
  return { id, key, answers: () => answersOf(server, key) };
}

async function createOrganization(server: RunningServer, name: string): Promise<Pick<Tenant, "id" | "key">> {
  const { body: organization } = await operate(server, "POST", "/organizations", { name });
  const { body } = await operate(server, "POST", "/keys", { organization_id: organization.id, name: "k" });
  return { id: organization.id, key: body.secret };
}

const start = String(baseUnixNano - 40n * hourNanos);
const end = String(baseUnixNano + 2n * hourNanos);
const seconds = (nanos: bigint | string) => String(BigInt(nanos) / 1_000_000_000n);
const range = `start=${seconds(start)}&end=${seconds(end)}`;

/** Each with parameters that do not depend on the time of the call. */
const queries: readonly (readonly [path: string, body?: object])[] = [
  ["/observability/logs", { start, end, limit: 100 }],
  ["/observability/traces", { trace: "all_traces", start, end, detail: true }],
  ["/observability/conversations", { start, end }],
  ["/observability/projects"],
  ["/observability/metrics", { metric: "inference_requests_total", time_window: "40h", end, step: "1h" }],
  [`/prometheus/api/v1/query_range?query=${encodeURIComponent('{__name__=~"turn.*"}')}&${range}&step=600`],
  [`/prometheus/api/v1/label/__name__/values?${range}`],
  [`/prometheus/api/v1/metadata`],
  [`/loki/api/v1/label/service_name/values?${range}`],
  [`/loki/api/v1/detected_fields?query=${encodeURIComponent('{service_name=~".+"}')}&${range}`],
  [`/tempo/api/v2/search/tag/resource.service.name/values?${range}`],
  [
    `/tempo/api/metrics/query_range?q=${encodeURIComponent("{} | count_over_time() by (resource.service.name)")}&${range}&step=1h`,
  ],
  [`/tempo/api/traces/${hex("a", 32)}`],
];

async function answersOf({ url }: RunningServer, key: string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const [path, body] of queries) {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok([200, 404].includes(response.status), `${path}: ${response.status} ${await response.clone().text()}`);
    answers[`${path} ${JSON.stringify(body)}`] = response.ok
      ? comparable(await response.json())
      : await response.text();
  }
  return answers;
}

/** Without what differs between organizations and calls, lists in one order. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(comparable).toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(
    ([name]) => !["stats", "metrics", "organization_id", "request_id", "meta"].includes(name),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, comparable(member)]));
}

/** Replaced files are removed each second. By default it is every ten seconds or more, and a deletion waits for it. */
export const promptCleanup = `<clickhouse><merge_tree>
  <cleanup_delay_period>1</cleanup_delay_period>
  <cleanup_delay_period_random_add>0</cleanup_delay_period_random_add>
  <max_cleanup_delay_period>1</max_cleanup_delay_period>
</merge_tree></clickhouse>
`;

/** Polls the receipt until it has the status. */
export async function untilDeletion(
  server: RunningServer,
  id: string,
  reached: (deletion: Deletion) => boolean,
): Promise<Deletion> {
  for (;;) {
    const { body } = await operate(server, "GET", `/deletions/${id}`);
    assert.equal(body.error ?? null, null, JSON.stringify(body));
    if (reached(body)) return body;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Sends statements to the embedded store past the server. */
export function storeOf({ dataDirectory }: Pick<RunningServer, "dataDirectory">) {
  const connection = createConnection({
    url: "http://localhost",
    socketPath: join(dataDirectory, "telemetry/store.sock"),
    database: "default",
    compression: false,
    maximumConnections: 2,
  });
  return {
    ask: async (text: string) => (await connection.command(`${text} FORMAT TSV`, AbortSignal.timeout(60_000))).trim(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

export const tenantTables = [
  "spans",
  "span_details",
  "trace_index",
  "logs",
  "series",
  "points",
  "distribution_points",
  "exemplars",
  "resources",
  "scopes",
  "span_minutes",
  "log_minutes",
  "call_minutes",
  "call_hours",
  "row_touches",
  "rollup_hours",
] as const;
