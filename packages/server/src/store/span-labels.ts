/** Defines the labels of metrics over spans, each as an expression over the columns of `spans`. */
import { endUserAttributes } from "./end-user-attributes.ts";
import { bind, join, sql, type Statement } from "./statement.ts";

/** Values of `error.type` with which SDKs and gateways report a timeout. */
export const timeoutErrorTypes = ["408", "504", "deadline_exceeded", "DEADLINE_EXCEEDED", "ETIMEDOUT"];

const isTimeout = sql`(positionCaseInsensitive(error_type, 'timeout') > 0 OR error_type IN ${bind.texts(timeoutErrorTypes)})`;

/** By label name. If a span lacks the attribute, the label is empty, which means absent in PromQL. */
export const spanLabels = {
  project_name: sql`project`,
  service_name: sql`service`,
  model_key: sql`if(request_model != '', request_model, response_model)`,
  provider: sql`provider`,
  operation: sql`operation`,
  agent_name: sql`agent_name`,
  agent_class: sql`agent_class`,
  /** `success`, `failure` or `timeout`. */
  status: sql`multiIf(${isTimeout}, 'timeout', status_code = 2 OR error_type != '', 'failure', 'success')`,
  session_id: sql`session_id`,
  user_id: sql`arrayFirst(x -> x != '', [${join(
    endUserAttributes.map((name) => sql`attributes[${bind.text(name)}]`),
    sql`, `,
  )}, ''])`,
  /** Of the API key of a call that this server served. */
  key_id: sql`attributes['sounding.key.id']`,
  key_name: sql`attributes['sounding.key.name']`,
  tool_name: sql`if(tool_name != '', tool_name, attributes['gen_ai.tool.name'])`,
  /** `input` or `output`, from the metric's ARRAY JOIN. */
  token_type: sql`token_type`,
  /** Why content was refused: the first part of `harassment/threatening`. */
  category: sql`splitByChar('/', arrayFirst(x -> x != '', [attributes['gen_ai.guardrail.risk.category'], attributes['rai.category'], attributes['category'], 'unknown']))[1]`,
  voice: sql`attributes['gen_ai.request.voice']`,
  /** The service under the name that Tempo's metrics give it. */
  service: sql`service`,
  span_name: sql`name`,
  span_kind: sql`concat('SPAN_KIND_', ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'][least(kind, 5) + 1])`,
  status_code: sql`concat('STATUS_CODE_', ['UNSET', 'OK', 'ERROR'][least(status_code, 2) + 1])`,
  /** These three are of requests between services (service-edges.ts). */
  client: sql`edge_client`,
  server: sql`edge_server`,
  connection_type: sql`edge_type`,
} as const satisfies Readonly<Record<string, Statement>>;

export type SpanLabel = keyof typeof spanLabels;

export function isSpanLabel(name: string): name is SpanLabel {
  return Object.hasOwn(spanLabels, name);
}

/**
 * Labels that only the application knows: where Sounding's own span of a call counts, they come from the application's
 * span of the same call, which `callers` joins (counted-calls.ts).
 */
export const callerLabels = {
  service_name: sql`if(served = 1 AND caller_service != '', caller_service, toString(service))`,
  agent_name: sql`if(agent_name != '', toString(agent_name), caller_agent_name)`,
  agent_class: sql`if(agent_class != '', toString(agent_class), caller_agent_class)`,
  session_id: sql`if(session_id != '', session_id, caller_session_id)`,
} as const satisfies Readonly<Partial<Record<SpanLabel, Statement>>>;

type CallerLabel = keyof typeof callerLabels;

export function isCallerLabel(label: SpanLabel): label is CallerLabel {
  return Object.hasOwn(callerLabels, label);
}
