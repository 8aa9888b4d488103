/** Resolves the values of `trace` in trace queries: each is a condition that one span of the trace must satisfy. */
import { showValue } from "../../api/validate.ts";
import type { TracePresetSettings } from "../../config/trace-presets.ts";
import { AppError } from "../../errors.ts";
import { agentOperation, inferenceOperations, workflowOperation } from "../../store/span-operations.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import { allOf } from "../conditions.ts";

export interface TracePreset {
  readonly name: string;
  readonly description: string;
  /** At least one span of the trace must satisfy it; undefined selects all traces. */
  readonly condition: Statement | undefined;
}

export interface TracePresets {
  /** @throws AppError invalid_request that lists the names */
  find(name: string): TracePreset;
  readonly all: readonly TracePreset[];
}

interface TracePresetOptions {
  /** A trace is slow if one of its spans took at least this long. */
  readonly slowTraceMs: number;
  /** Further presets, by name. */
  readonly configured: Readonly<Record<string, TracePresetSettings>>;
}

const agentOperations = [agentOperation, workflowOperation];

/** @throws AppError invalid_request when a configured preset has the name of a built-in one */
export function createTracePresets({ slowTraceMs, configured }: TracePresetOptions): TracePresets {
  const presets = new Map(builtInPresets(slowTraceMs).map((preset) => [preset.name, preset]));
  for (const [name, settings] of Object.entries(configured)) {
    if (presets.has(name)) {
      throw new AppError("invalid_request", `The trace preset ${name} already exists; choose another name.`, {
        param: `telemetry.trace_presets.${name}`,
      });
    }
    presets.set(name, {
      name,
      description: settings.description ?? "A preset defined in this server's configuration.",
      condition: configuredCondition(settings),
    });
  }
  return {
    all: [...presets.values()],
    find(name) {
      const preset = presets.get(name);
      if (preset !== undefined) return preset;
      throw new AppError(
        "invalid_request",
        `trace is ${showValue(name)}; expected one of ${[...presets.keys()].map(showValue).join(", ")}.`,
        { param: "trace" },
      );
    },
  };
}

function builtInPresets(slowTraceMs: number): TracePreset[] {
  const agentCondition = sql`operation IN ${bind.texts(agentOperations)}`;
  return [
    { name: "all_traces", description: "All traces.", condition: undefined },
    {
      name: "inference_traces",
      description: `Traces with a model call: \`gen_ai.operation.name\` is ${inWords(inferenceOperations)}.`,
      condition: sql`operation IN ${bind.texts(inferenceOperations)}`,
    },
    {
      name: "agent_traces",
      description: `Traces of agents and workflows: \`gen_ai.operation.name\` is ${inWords(agentOperations)}.`,
      condition: agentCondition,
    },
    { name: "distiller_traces", description: "Same as `agent_traces`.", condition: agentCondition },
    {
      name: "error_traces",
      description: "Traces with a span whose status is an error.",
      condition: sql`status_code = ${bind.uint8(statusCodes.error)}`,
    },
    {
      name: "slow_traces",
      description: "Traces with a span of at least `telemetry.slow_trace_ms`.",
      condition: tookAtLeast(slowTraceMs),
    },
  ];
}

/** OTLP's StatusCode. */
const statusCodes = { ok: 1, error: 2 } as const;

function inWords(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

function tookAtLeast(durationMs: number): Statement {
  const nanos = BigInt(durationMs) * 1_000_000n;
  return sql`toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time) >= ${bind.int64(nanos)}`;
}

function configuredCondition(settings: TracePresetSettings): Statement | undefined {
  const conditions = attributeConditions(settings.attributes);
  const ofResource = attributeConditions(settings.resource_attributes);
  if (ofResource.length > 0) {
    const resources = allOf([sql`organization = ${callerOrganization}`, ...ofResource]);
    conditions.push(sql`resource_id GLOBAL IN (SELECT resource_id FROM resources WHERE ${resources})`);
  }
  if (settings.services !== undefined) conditions.push(sql`service IN ${bind.texts(settings.services)}`);
  if (settings.status !== undefined) conditions.push(sql`status_code = ${bind.uint8(statusCodes[settings.status])}`);
  if (settings.min_duration_ms !== undefined) conditions.push(tookAtLeast(settings.min_duration_ms));
  return conditions.length === 0 ? undefined : allOf(conditions);
}

function attributeConditions(attributes: Readonly<Record<string, readonly string[]>> = {}): Statement[] {
  return Object.entries(attributes).map(([name, values]) =>
    values.includes("*")
      ? sql`mapContains(attributes, ${bind.text(name)})`
      : sql`mapContains(attributes, ${bind.text(name)}) AND attributes[${bind.text(name)}] IN ${bind.texts(values)}`,
  );
}
