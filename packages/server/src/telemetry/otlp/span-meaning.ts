/**
 * Derives what instrumentations say about a span without an attribute of its own. docs/observability/instrumentations.md
 * lists the rules.
 */
import { agentOperation, inferenceOperations, workflowOperation } from "../../store/span-operations.ts";
import { isObject, parseObject } from "../../json-object.ts";
import { spanAttributePositions as position } from "../rows/known-attributes.ts";
import type { AttributeFinder } from "./attribute-finder.ts";

const inference: ReadonlySet<string> = new Set(inferenceOperations);

/** JSON in attributes beyond this length is not read. */
const longestJson = 262_144;

/** What a span means, as far as it differs from its known attributes; undefined where they apply. */
export interface SpanMeaning {
  readonly operation: string;
  readonly agentName: string | undefined;
  readonly requestModel: string | undefined;
  readonly isInference: boolean;
  /** Of a model call; empty if it is unknown. Call it before the next span is read. */
  readonly readResponseId: () => string;
}

export interface SpanFacts {
  readonly known: AttributeFinder;
  readonly bytes: Uint8Array;
  readonly isRoot: boolean;
  readonly readName: () => string;
}

/** Undefined for a span that has nothing to do with models and agents. */
export function meaningOf(facts: SpanFacts): SpanMeaning | undefined {
  const { bytes, known } = facts;
  const isOpenInference = known.has(position.openinference_kind);
  if (!known.has(position.operation) && !isOpenInference) return undefined;
  let operation = known.text(position.operation, bytes);
  let agentName: string | undefined;
  if (isOpenInference && !known.has(position.agent_name)) agentName = agentOfLangChain(facts);
  if (operation === "" && agentName !== undefined && isAgentOfLangChain(facts, agentName)) operation = agentOperation;
  if (operation === agentOperation) {
    if (isWrapper(facts, agentName)) operation = workflowOperation;
    else if (!known.has(position.agent_name)) agentName ??= agentOfTraceloop(facts);
  }
  const isInference = inference.has(operation);
  return {
    operation,
    agentName: agentName === "" ? undefined : agentName,
    requestModel: isInference && !known.has(position.request_model) ? modelOfParameters(facts) : undefined,
    isInference,
    readResponseId: () => responseIdOf(facts, isOpenInference),
  };
}

/**
 * OpenLLMetry reports every outermost LangChain run as an agent, chains of a prompt and a model included; an agent built
 * with LangGraph has another span. OpenInference reports the workflow around OpenAI Agents as an agent without a name.
 */
function isWrapper({ bytes, known }: SpanFacts, agentName: string | undefined): boolean {
  if (known.text(position.traceloop_kind, bytes) === "workflow") return true;
  return (
    known.text(position.openinference_kind, bytes) === "AGENT" &&
    agentName === undefined &&
    ![position.agent_name, position.input, position.output].some((each) => known.has(each))
  );
}

/** OpenInference reports LangChain's agents as chains. Their name is in the metadata, also of everything below them. */
function agentOfLangChain({ bytes, known }: SpanFacts): string | undefined {
  const metadata = known.text(position.metadata, bytes);
  if (!metadata.includes("langchain_create_agent") && !metadata.includes("lc_agent_name")) return undefined;
  const values = objectOf(metadata);
  const name = values?.["lc_agent_name"];
  if (typeof name === "string") return name;
  return values?.["ls_integration"] === "langchain_create_agent" ? "" : undefined;
}

/** A chain with the agent's name is the run of the agent; one without a name is, if nothing is above it. */
function isAgentOfLangChain({ bytes, isRoot, known, readName }: SpanFacts, agentName: string): boolean {
  if (known.text(position.openinference_kind, bytes) !== "CHAIN") return false;
  return agentName === "" ? isRoot : readName() === agentName;
}

function agentOfTraceloop({ bytes, known }: SpanFacts): string | undefined {
  if (known.text(position.traceloop_kind, bytes) !== "agent") return undefined;
  return known.stringValue(position.traceloop_entity, bytes);
}

/** OpenInference has the model of a call that failed only among the request's parameters. */
function modelOfParameters({ bytes, known }: SpanFacts): string | undefined {
  const model = objectOf(known.text(position.invocation_parameters, bytes))?.["model"];
  return typeof model === "string" ? model : undefined;
}

/** OpenInference has no attribute for it, but the response as JSON: OpenAI's own, or LangChain's. */
function responseIdOf({ bytes, known }: SpanFacts, isOpenInference: boolean): string {
  const id = known.text(position.response_id, bytes);
  if (id !== "" || !isOpenInference) return id;
  const output = objectOf(known.text(position.output, bytes));
  for (const value of [output?.["id"], memberOf(output?.["llm_output"], "id"), generationId(output)]) {
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

/** A streamed answer of LangChain has the ID only in its first generation. */
function generationId(output: Readonly<Record<string, unknown>> | undefined): unknown {
  const first = [output?.["generations"]].flat(2)[0];
  const kwargs = memberOf(memberOf(first, "message"), "kwargs");
  return memberOf(memberOf(kwargs, "response_metadata"), "id");
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  return text.startsWith("{") && text.length <= longestJson ? parseObject(text) : undefined;
}
