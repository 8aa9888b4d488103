/** The chat operation with configured guardrails and a scripted model, as a caller sees it. */
import type { Config } from "../../src/config/config.ts";
import { resolveConfig } from "../../src/config/load-config.ts";
import { formatProblem } from "../../src/config/problem.ts";
import { parseYaml } from "../../src/config/yaml-file.ts";
import { createGuardrails } from "../../src/guardrails/guardrails.ts";
import type { Logger } from "../../src/logger.ts";
import type { ChatModel } from "../../src/engines/engine.ts";
import { readFrames, startTestChat } from "../support/test-chat.ts";

export interface ReadAnswer {
  readonly status: number;
  /** The text of choice 0, as received. */
  readonly text: string;
  readonly reason: string | null;
  readonly code: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
  readonly values: readonly any[];
}

/** @param yaml the section `guardrails` */
export async function startGuardedChat(yaml: string, model: ChatModel, rootOf = (id: string): string => id) {
  const settings = guardrailsOf(yaml);
  const logged: string[] = [];
  const record: Logger["warn"] = (_fields, message) => void logged.push(message);
  const logger: Logger = { debug: record, info: record, warn: record, error: record };
  const guardrails = createGuardrails(settings, { logger, rootOf });
  const chat = await startTestChat({ model, guardrails });
  const read = async (body: object): Promise<ReadAnswer> => {
    const response = await chat.post({ model: "m", messages: [{ role: "user", content: "Hello." }], ...body });
    const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    const values: any[] = isStream ? await readFrames(response) : [await response.json()];
    const choices = values.flatMap((value) => value.choices ?? []).filter(({ index }) => index === 0);
    const texts = choices.map((choice) => (choice.delta ?? choice.message).content ?? "");
    const error = values.find((value) => value.error !== undefined)?.error;
    return {
      status: response.status,
      text: texts.join(""),
      reason: choices.findLast(({ finish_reason: reason }) => reason !== null)?.finish_reason ?? null,
      code: error?.code ?? null,
      values,
    };
  };
  return {
    ...chat,
    read,
    /** Applies another section `guardrails`. */
    reload: (next: string) => guardrails.reload(guardrailsOf(next)),
    warnings: logged,
    async [Symbol.asyncDispose]() {
      await chat[Symbol.asyncDispose]();
      await guardrails.close();
    },
  };
}

function guardrailsOf(yaml: string): Config["guardrails"] {
  const { config, problems } = resolveConfig({ file: parseYaml("test.yaml", `guardrails:\n${yaml}`), env: {} });
  if (config === undefined) throw new Error(problems.map(formatProblem).join("\n"));
  return config.guardrails;
}
