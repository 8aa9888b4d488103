/** Names the option of the command line in an error that names the field of a request. */
import { UsageError } from "./cli-error.ts";
import type { Command } from "./command.ts";

/** Fields whose option has another name. */
const optionNames: Readonly<Record<string, readonly string[]>> = {
  agent_name: ["agent"],
  end: ["until"],
  expires_at: ["expires"],
  max_completion_tokens: ["max-tokens"],
  min_duration_ms: ["min-duration"],
  model_key: ["model"],
  project_name: ["project"],
  response_format: ["format"],
  sample_rate: ["rate"],
  service_name: ["service"],
  session_id: ["session"],
  start: ["since"],
  time_window: ["since"],
  trace: ["preset"],
  user_id: ["user"],
};

/** The error as one of the command line, if an option or an argument set the field that is refused; otherwise the error itself. */
export function withOptionName(
  error: unknown,
  { arguments: positionals = [], options = {} }: Pick<Command, "arguments" | "options">,
  values: Readonly<Record<string, unknown>>,
): unknown {
  if (!(error instanceof Error) || !isInvalidRequest(error)) return error;
  const { message, param } = error;
  const field = param.split(".").at(-1)!;
  const names = [field.replaceAll("_", "-"), ...(optionNames[field] ?? [])];
  const option = names.find((name) => name in options && values[name] !== undefined);
  const positional = positionals.find(({ name }) => name.toLowerCase() === field)?.name;
  const shown = option === undefined ? positional : `--${option}`;
  if (shown === undefined || !message.startsWith(`${param} `)) return error;
  return new UsageError(`${shown}${message.slice(param.length)}`, { cause: error });
}

/** A server's error, or that of the part of the server which runs in this process. */
function isInvalidRequest(error: Error): error is Error & { readonly param: string } {
  if (!("param" in error) || typeof error.param !== "string") return false;
  return "status" in error ? error.status === 400 : "code" in error && error.code === "invalid_request";
}
