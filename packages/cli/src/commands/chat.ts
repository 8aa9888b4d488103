/** `sounding chat`: one response to a prompt and piped input, or a conversation in a terminal. */
import { randomUUID } from "node:crypto";
import type { ChatMessage } from "@sounding/client";
import { chooseModel, writeAnswer, type AnswerSettings } from "../chat/answer.ts";
import { composeQuestion, readPiped, readQuestionFile } from "../chat/question.ts";
import { runSession } from "../chat/session.ts";
import { UsageError } from "../cli-error.ts";
import { command } from "../command.ts";
import { connectionOptions, numberOption, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";

export const chatCommand = command({
  name: "chat",
  summary: "Chat with a model: one prompt, or a conversation",
  description: `With a prompt or piped input, prints the response to standard output while it is generated. If both are given, the prompt
comes first. Without either, in a terminal, starts a conversation that keeps its history; Ctrl-C cancels a response,
Ctrl-D exits.

With --json, prints the complete response as one JSON object, as the server sent it.`,
  arguments: [{ name: "prompt", description: "The prompt; several words need no quotes.", variadic: true }],
  options: {
    model: {
      type: "string",
      short: "m",
      value: "ID",
      description: "The model. Default: the first one that the server lists.",
    },
    system: { type: "string", short: "s", value: "TEXT", description: "System message to send before the prompt." },
    file: {
      type: "string",
      short: "f",
      value: "FILE",
      multiple: true,
      description: "A text file or image to send with the prompt.",
    },
    temperature: { type: "string", short: "t", value: "NUMBER", description: "Sampling temperature, 0 to 2." },
    "max-tokens": { type: "string", value: "COUNT", description: "Maximum number of tokens to generate." },
    seed: {
      type: "string",
      value: "INTEGER",
      description: "Seed for sampling; the same seed and parameters give the same response if the engine supports it.",
    },
    user: { type: "string", value: "ID", description: "The end user for whom you ask, for telemetry." },
    session: {
      type: "string",
      value: "ID",
      description:
        "The conversation that the call belongs to, for telemetry. Default: a new one for each conversation.",
    },
    stream: {
      type: "boolean",
      default: true,
      description: "Print the response when it is complete instead of streaming it.",
    },
    ...connectionOptions,
  },
  examples: [
    ["sounding chat what is a fathom", "Ask one question."],
    ["git diff | sounding chat 'Write a commit message for this:'", "Combine a prompt with piped input."],
    ["sounding chat --model big --system 'Answer in French.'", "A conversation."],
  ],
  async run({ values, positionals, json, io }) {
    const { signal } = io;
    const parameters = {
      temperature: numberOption("temperature", values.temperature),
      max_completion_tokens: numberOption("max-tokens", values["max-tokens"]),
      seed: numberOption("seed", values.seed),
    };
    const words = positionals.join(" ");
    const files = await Promise.all((values.file ?? []).map(readQuestionFile));
    const inSession = words === "" && files.length === 0 && io.isTTY.stdin;
    if (inSession && json) throw new UsageError("--json requires a prompt or piped input");
    const session = values.session ?? (inSession ? `chat-${randomUUID()}` : undefined);
    const client = await openClient(values, io, {
      ...(session === undefined ? {} : { "x-session-id": session }),
      ...(values.user === undefined ? {} : { "x-user-id": values.user }),
    });
    const question = inSession ? "" : composeQuestion(words, io.isTTY.stdin ? "" : await readPiped(io), files);
    if (!inSession && question.length === 0) {
      throw new UsageError("no prompt: pass one as an argument, or pipe it in");
    }
    const opening: ChatMessage[] = values.system === undefined ? [] : [{ role: "system", content: values.system }];
    const model = await chooseModel(client, values.model, signal);
    const settings: AnswerSettings = { model, stream: values.stream, parameters };
    if (inSession) return await runSession(client, { settings, opening }, io);

    const messages: ChatMessage[] = [...opening, { role: "user", content: question }];
    if (json) {
      const completion = await client.chat.completions.create({ ...parameters, model, messages }, { signal });
      await writeJson(io.stdout, completion);
      return exitCodes.ok;
    }
    const { cutBecause } = await writeAnswer(client, { ...settings, messages }, { io, signal });
    if (cutBecause !== undefined) await writeLine(io.stderr, `sounding: ${cutBecause}`);
    return exitCodes.ok;
  },
});
