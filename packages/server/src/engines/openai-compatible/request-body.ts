/** Computes how the body that an engine gets differs from the caller's. */
import { AppError } from "../../errors.ts";
import type { ChatCall } from "../engine.ts";
import { withoutForeignReasoning } from "./foreign-reasoning.ts";

export interface BodyChoices {
  /** The model's name in the body. */
  readonly model: string;
  readonly isStream: boolean;
  /** Whether to request usage in streams; some engines reject the parameter. */
  readonly asksUsage: boolean;
}

/**
 * Top-level members to set, and with undefined to remove. `extra_body` and `modality` are names of our interface
 * that the effective request no longer has.
 */
export function bodyChanges(call: ChatCall, { model, isStream, asksUsage }: BodyChoices): Record<string, unknown> {
  const { request } = call;
  const changes: Record<string, unknown> = { ...call.changes, model, extra_body: undefined, modality: undefined };
  const messages = withoutForeignReasoning(request.messages);
  if (messages !== undefined) changes["messages"] = messages;
  if (isStream) {
    if (request.stream !== true) changes["stream"] = true;
    if (asksUsage && request.stream_options?.include_usage !== true) {
      changes["stream_options"] = { ...request.stream_options, include_usage: true };
    }
  } else if (request.stream === true) {
    changes["stream"] = false;
    changes["stream_options"] = undefined;
  }
  return changes;
}

/** Whether nothing that has texts differs from the caller's body. */
export function isForwarded({ request, changes }: ChatCall): boolean {
  const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;
  return Object.values(changes).every(isScalar) && withoutForeignReasoning(request.messages) === undefined;
}

/** @throws AppError unsupported_parameter for the first parameter that the engine is known not to have */
export function refuseUnsupported(call: ChatCall, names: readonly string[]): void {
  for (const name of names) {
    if ((call.request as Readonly<Record<string, unknown>>)[name] == null) continue;
    throw new AppError(
      "unsupported_parameter",
      `${name} is set; the engine of the model ${JSON.stringify(call.request.model)} does not support this parameter.`,
      { param: name },
    );
  }
}

/**
 * @param given a call's values by parameter name; undefined if absent
 * @throws AppError unsupported_parameter for the first that the engine is known not to have
 */
export function refuseGiven(given: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || !names.includes(name)) continue;
    throw new AppError("unsupported_parameter", `The model does not support ${name}.`, { param: name });
  }
}
