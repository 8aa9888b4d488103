/**
 * Requests between services, found in spans: a client's span and the server's span below it are one request. A server's
 * span that is the root of its trace was called by `user`; a client's span without a server's span below it called a database,
 * a peer that it names, or a model's provider. https://grafana.com/docs/tempo/latest/metrics-from-traces/service_graphs/
 */
import { durationSeconds } from "../../../store/row-expressions.ts";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import { endedWithin, type EndRange } from "../../../store/counted-calls.ts";

/** By how much longer than its server's span the span of a client may take. */
const marginMs = 300_000;

/** OTLP's span kinds. */
const isServer = sql`kind IN (2, 5)`;
const isClient = sql`kind IN (3, 4)`;
const consumer = sql`5`;

/** Every span that ends a request. */
export const endsEdge = sql`kind IN (2, 3, 4, 5)`;

const databaseNames = sql`[attributes['db.namespace'], attributes['db.name'], attributes['db.system.name'], attributes['db.system']]`;
const database = sql`arrayFirst(name -> name != '', ${databaseNames})`;
const peer = sql`if(attributes['peer.service'] != '', attributes['peer.service'], toString(provider))`;
const databaseNode = sql`arrayFirst(name -> name != '', [attributes['peer.service'], attributes['server.address'], ${database}])`;

/**
 * The rows of `spans` that end a request, with the columns `edge_client`, `edge_server`, `edge_type`, `edge_failed`,
 * `edge_client_seconds` and `edge_server_seconds`.
 */
export function serviceEdges(range: EndRange, project: string | undefined): Statement {
  const inRange = allOf([endedWithin([range]), projectCondition(project)]);
  const wider = { fromMs: range.fromMs - marginMs, toMs: range.toMs + marginMs };
  const near = allOf([endedWithin([wider]), projectCondition(project)]);
  return sql`(
      SELECT served.*, if(calling.span_id = '', ${bind.text("user")}, calling.client_service) AS edge_client,
        toString(served.service) AS edge_server,
        multiIf(calling.span_id = '', 'virtual_node', served.kind = ${consumer}, 'messaging_system', '') AS edge_type,
        served.status_code = 2 OR calling.client_failed AS edge_failed,
        ${durationSeconds} AS edge_server_seconds,
        if(calling.span_id = '', edge_server_seconds, calling.client_seconds) AS edge_client_seconds
      FROM (SELECT * FROM spans FINAL WHERE ${inRange} AND ${isServer}) AS served
      LEFT ANY JOIN (
        SELECT trace_id, span_id, toString(service) AS client_service, status_code = 2 AS client_failed, ${durationSeconds} AS client_seconds
        FROM spans WHERE ${near} AND ${isClient}
      ) AS calling ON served.trace_id = calling.trace_id AND served.parent_span_id = calling.span_id
      WHERE calling.span_id != '' OR served.parent_span_id = ''
    UNION ALL
      SELECT called.*, toString(called.service) AS edge_client,
        if(${database} != '', ${databaseNode}, ${peer}) AS edge_server,
        if(${database} != '', 'database', 'virtual_node') AS edge_type,
        called.status_code = 2 AS edge_failed, ${durationSeconds} AS edge_server_seconds, ${durationSeconds} AS edge_client_seconds
      FROM (SELECT * FROM spans FINAL WHERE ${inRange} AND ${isClient} AND (${database} != '' OR ${peer} != '')) AS called
      LEFT ANTI JOIN (
        SELECT trace_id, parent_span_id FROM spans WHERE ${near} AND ${isServer}
      ) AS answering ON called.trace_id = answering.trace_id AND called.span_id = answering.parent_span_id
    )`;
}
