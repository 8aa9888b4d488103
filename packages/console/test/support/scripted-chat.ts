/**
 * An upstream with chat models for tests of the playground. What it answers depends on the last message: it streams, stalls,
 * calls tools, answers with log probabilities, breaks off, refuses, and says hostile things.
 */
import type { Script, ScriptedExchange } from "../../../server/test/support/scripted-upstream.ts";

export interface ScriptedRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown; readonly tool_call_id?: string }[];
  readonly tools?: unknown;
  readonly response_format?: unknown;
}

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_795_000_000, model: "scripted-2026" };
const usage = { prompt_tokens: 12, completion_tokens: 40, total_tokens: 52 };

/** What a model says that wants to be more than text. */
export const hostileText = [
  "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
  "[a link](javascript:document.title='owned') [an honest link](https://sounding.example/path) ![image](https://evil.example/x.png)",
  "\u202Egnirts desrever\u202C `</code><b>bold</b>`",
  "```html\n<iframe src='https://evil.example'></iframe>\n```",
].join("\n\n");

export const longText = Array.from({ length: 400 }, (_, index) => `Word ${index}`).join(" ");

const delta = (part: object, more: object = {}): object => ({
  ...head,
  choices: [{ index: 0, delta: part, finish_reason: null, ...more }],
});

const end = (reason: string): object[] => [
  { ...head, choices: [{ index: 0, delta: {}, finish_reason: reason }] },
  { ...head, choices: [], usage },
];

async function finish(exchange: ScriptedExchange, reason: string): Promise<void> {
  await exchange.sendEvents(...end(reason), "[DONE]");
  exchange.end();
}

async function say(exchange: ScriptedExchange, text: string): Promise<void> {
  exchange.beginEvents();
  await exchange.sendEvents(...text.split(/(?<= )/).map((content) => delta({ role: "assistant", content })));
  await finish(exchange, "stop");
}

type Answer = (exchange: ScriptedExchange, request: ScriptedRequest) => Promise<void> | void;

/** By a word of the last message. */
const answers: Readonly<Record<string, Answer>> = {
  stall: async (exchange) => {
    exchange.beginEvents();
    await exchange.sendEvents(delta({ role: "assistant", content: "The beginning" }));
    await exchange.stall();
  },
  break: async (exchange) => {
    exchange.beginEvents();
    await exchange.sendEvents(delta({ role: "assistant", content: "Half of an" }));
    await exchange.raw("not a chunk\r\n");
  },
  refuse: (exchange) =>
    exchange.answer({ error: { message: "Slow down.", code: "rate_limit_exceeded" } }, 429, { "retry-after": "20" }),
  reject: (exchange) =>
    exchange.answer({ error: { message: "top_p is too small.", param: "top_p", code: "invalid_value" } }, 400),
  weather: async (exchange) => {
    exchange.beginEvents();
    const call = (part: object): object => delta({ tool_calls: [{ index: 0, ...part }] });
    await exchange.sendEvents(
      call({ id: "call_1", type: "function", function: { name: "get_weather", arguments: "" } }),
      call({ function: { arguments: '{"city":' } }),
      call({ function: { arguments: '"Lisbon"}' } }),
    );
    await finish(exchange, "tool_calls");
  },
  probable: async (exchange) => {
    exchange.beginEvents();
    const tokens = ["Red", ",", " cat", ",", " Oslo"];
    await exchange.sendEvents(
      ...tokens.map((token, index) => {
        const entry = { token, logprob: -index / 2, bytes: null };
        const other = { token: ` other${index}`, logprob: -3, bytes: null };
        const logprobs = { content: [{ ...entry, top_logprobs: [entry, other] }] };
        return delta({ content: token }, { logprobs });
      }),
    );
    await finish(exchange, "stop");
  },
  think: async (exchange) => {
    exchange.beginEvents();
    await exchange.sendEvents(
      delta({ role: "assistant", reasoning_content: "First I consider the sea." }),
      delta({ content: "**Blue** is `#00f`.\n\n- sea\n- sky\n\n```css\na { color: blue; }\n```" }),
    );
    await finish(exchange, "stop");
  },
  json: (exchange) => say(exchange, '{"name": "Mina"'),
  hostile: (exchange) => say(exchange, hostileText),
  long: (exchange) => say(exchange, longText),
};

export const scriptedChat: Script = async (exchange) => {
  const request = exchange.json as ScriptedRequest;
  const last = request.messages.at(-1)!;
  if (last.role === "tool") return say(exchange, `It is ${String(last.content)} there.`);
  const text = typeof last.content === "string" ? last.content : JSON.stringify(last.content);
  const answer = Object.entries(answers).find(([word]) => text.includes(word))?.[1];
  if (answer !== undefined) return answer(exchange, request);
  return say(exchange, `${request.model} heard ${request.messages.length} messages: ${text.slice(0, 60)}`);
};
