/**
 * Turns a call into a prompt and a grammar in a worker thread. The code that does so cannot yield, so a call that takes
 * too much time or memory must fail alone.
 */
import { parentPort, workerData } from "node:worker_threads";
import { AppError, toAppError } from "../../../errors.ts";
import { flattenGrammar, GrammarSizeError } from "../grammar/flat-grammar.ts";
import type { Grammar } from "../grammar/grammar.ts";
import { createAnswerShape } from "./answer-shape.ts";
import { createChatTemplate } from "./chat-template.ts";
import { maximumGrammarNodes, type FromPreparation, type PreparationSetup, type ToPreparation } from "./preparation.ts";
import { overlongPrompt } from "../prompt-limit.ts";

const { source, limit } = workerData as PreparationSetup;
const template = createChatTemplate(source);

function flat(grammar: Grammar | undefined, param: string) {
  if (grammar === undefined) return undefined;
  try {
    return flattenGrammar(grammar, maximumGrammarNodes);
  } catch (error) {
    if (!(error instanceof GrammarSizeError)) throw error;
    throw new AppError("invalid_request", `${param}: the schema is too large for a grammar: ${error.message}.`, {
      param,
    });
  }
}

function prepare({ generation }: ToPreparation): FromPreparation {
  try {
    const { fromStart, fromTrigger, ...shape } = createAnswerShape(generation, template);
    const param = generation.format === "text" ? "tools" : "response_format.json_schema.schema";
    const grammars = { fromStart: flat(fromStart, param), fromTrigger: flat(fromTrigger, param) };
    const prompt = generation.rawPrompt ?? template.render(generation);
    if (prompt.length > limit.characters) throw overlongPrompt(prompt.length, limit);
    return { prompt, shape: { ...shape, ...grammars } };
  } catch (thrown) {
    const error = thrown instanceof RangeError ? tooDeep(thrown) : thrown;
    const { code, message, param } = toAppError(error);
    const fault = error instanceof AppError ? undefined : error instanceof Error ? error.stack : String(error);
    return { error: { code, message, param: param ?? undefined }, fault };
  }
}

/** A stack overflow: only the caller's data can be nested so deeply. */
function tooDeep(cause: RangeError): AppError {
  return new AppError(
    "invalid_request",
    "The request's schemas, tools or chat_template_kwargs are nested too deeply.",
    {
      cause,
    },
  );
}

parentPort!.on("message", (message: ToPreparation) => parentPort!.postMessage(prepare(message)));
