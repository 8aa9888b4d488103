/** An organization of its own on a running server, with a key to send and query logs. */
import assert from "node:assert/strict";
import { otlpSender, type OtlpSender } from "./otlp-sender.ts";
import type { RunningServer } from "./running-server.ts";

type Details = { readonly structuredMetadata: Record<string, string>; readonly id?: string };
export type Entry = [unixNano: string, line: string, details?: Details];

export interface LogsAnswer {
  readonly data: { readonly result: { readonly stream: Record<string, string>; readonly values: Entry[] }[] };
  readonly next_cursor?: string | null;
}

export interface LogTenant {
  readonly key: string;
  readonly sender: OtlpSender;
  /** Sends a request with the organization's key. */
  call(path: string, body: object): Promise<Response>;
  ask(body: object, query?: string): Promise<Response>;
  logs(body: object, query?: string): Promise<LogsAnswer>;
  /** The lines that match, newest first. */
  lines(body: object, query?: string): Promise<string[]>;
}

let tenants = 0;

export async function newLogTenant(server: RunningServer): Promise<LogTenant> {
  const admin = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
    return (await answer.json()) as Record<string, string>;
  };
  const { id } = await admin("/organizations", { name: `tenant-${(tenants += 1)}` });
  const permissions = ["telemetry_read", "telemetry_write"];
  const { secret } = await admin("/keys", { organization_id: id, name: "all", permissions });
  const call = (path: string, body: object): Promise<Response> =>
    server.call(path, body, { authorization: `Bearer ${secret}` });
  const ask = (body: object, query = ""): Promise<Response> => call(`/observability/logs${query}`, body);
  const logs = async (body: object, query?: string): Promise<LogsAnswer> => {
    const response = await ask(body, query);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as LogsAnswer;
  };
  return {
    key: secret!,
    sender: otlpSender(server.url, secret!),
    call,
    ask,
    logs,
    lines: async (body, query) => entriesOf(await logs(body, query)).map(([, line]) => line),
  };
}

export function entriesOf({ data }: LogsAnswer): Entry[] {
  return data.result.flatMap(({ values }) => values).sort(([left], [right]) => (BigInt(left) < BigInt(right) ? 1 : -1));
}
