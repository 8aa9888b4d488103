/** `sounding chat`: one answer to the words given and what is piped in, or a conversation at a terminal. */
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
  summary: "Ask a model, once or in a conversation",
  description: `With a prompt, or with something piped in, the answer is written to standard output as it comes; both together
are one question, the prompt first. Without either, at a terminal, a conversation begins: it remembers what was
said, Ctrl-C cancels an answer, Ctrl-D leaves.

With --json the whole completion is written as one JSON object, as the server sent it.`,
  arguments: [{ name: "prompt", description: "The question; several words need no quotes.", variadic: true }],
  options: {
    model: { type: "string", short: "m", value: "ID", description: "The model; else the first that the server lists." },
    system: { type: "string", short: "s", value: "TEXT", description: "Instructions that come before the question." },
    file: {
      type: "string",
      short: "f",
      value: "FILE",
      multiple: true,
      description: "A text file or an image that belongs to the question.",
    },
    temperature: { type: "string", short: "t", value: "NUMBER", description: "Sampling temperature, 0 to 2." },
    "max-tokens": { type: "string", value: "COUNT", description: "Most tokens that the answer may have." },
    seed: {
      type: "string",
      value: "INTEGER",
      description: "Same seed and parameters: same answer, as far as it goes.",
    },
    stream: { type: "boolean", default: true, description: "Write the answer when it is whole." },
    ...connectionOptions,
  },
  examples: [
    ["sounding chat what is a fathom", "One question."],
    ["git diff | sounding chat 'Write a commit message for this:'", "A prompt and what is piped in."],
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
    if (inSession && json) throw new UsageError("--json needs a prompt, or something piped in");
    const client = await openClient(values, io);
    const question = inSession ? "" : composeQuestion(words, io.isTTY.stdin ? "" : await readPiped(io), files);
    if (!inSession && question.length === 0) {
      throw new UsageError("nothing to ask: give a prompt, or pipe something in");
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
