/** Streams as engines send them, each with its quirks, and what clients must receive. */

export interface RecordedStream {
  readonly engine: string;
  /** The body, byte for byte. */
  readonly text: string;
  readonly content: string;
  readonly finishReason: string;
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
  readonly id: string;
  readonly toolCalls?: readonly { readonly id: string | RegExp; readonly name: string; readonly arguments: string }[];
}

const frame = (value: unknown, end = "\n"): string => `data: ${JSON.stringify(value)}${end}${end}`;

const vllmHead = { id: "chatcmpl-7d1f", object: "chat.completion.chunk", created: 1_760_000_000, model: "Qwen/Qwen3" };
const vllm = (delta: unknown, more = {}) => ({
  ...vllmHead,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, token_ids: null, ...more }],
});
const llamaHead = {
  created: 1_760_000_001,
  id: "chatcmpl-Xk3",
  model: "qwen.gguf",
  system_fingerprint: "b6301-abc",
  object: "chat.completion.chunk",
};
const ollamaHead = {
  id: "chatcmpl-581",
  object: "chat.completion.chunk",
  created: 1_760_000_002,
  model: "llama3.2",
  system_fingerprint: "fp_ollama",
};
const openRouterHead = {
  id: "gen-176-abc",
  provider: "DeepInfra",
  model: "meta-llama/llama-3",
  object: "chat.completion.chunk",
  created: 1_760_000_003,
};
const azureHead = {
  created: 1_760_000_004,
  id: "chatcmpl-Az1",
  model: "gpt-4o-2024-11-20",
  object: "chat.completion.chunk",
  system_fingerprint: "fp_b705f0c291",
};
const safe = { hate: { filtered: false, severity: "safe" } };

export const recordedStreams: readonly RecordedStream[] = [
  {
    engine: "vLLM, with a stop string as stop_reason and usage in every chunk",
    text: [
      frame({
        ...vllm({ role: "assistant", content: "" }),
        usage: { prompt_tokens: 9, total_tokens: 9, completion_tokens: 0 },
      }),
      frame({ ...vllm({ content: "Grüße" }), usage: { prompt_tokens: 9, total_tokens: 10, completion_tokens: 1 } }),
      frame({
        ...vllm({ content: " 😀", reasoning_content: null }),
        usage: { prompt_tokens: 9, total_tokens: 11, completion_tokens: 2 },
      }),
      frame({ ...vllm({ content: "" }, { finish_reason: "stop", stop_reason: "END" }) }),
      frame({ ...vllmHead, choices: [], usage: { prompt_tokens: 9, total_tokens: 12, completion_tokens: 3 } }),
      "data: [DONE]\n\n",
    ].join(""),
    id: "chatcmpl-7d1f",
    content: "Grüße 😀",
    finishReason: "stop",
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  },
  {
    engine: "vLLM, with tool calls",
    text: [
      frame(vllm({ role: "assistant", content: null })),
      frame(vllm({ tool_calls: [{ id: "call_a", type: "function", index: 0, function: { name: "weather" } }] })),
      frame(vllm({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] })),
      frame(vllm({ tool_calls: [{ index: 0, function: { arguments: ' "Zürich"}' } }] })),
      frame(
        vllm({
          tool_calls: [{ id: "call_b", type: "function", index: 1, function: { name: "time", arguments: "{}" } }],
        }),
      ),
      frame(vllm({ content: "" }, { finish_reason: "tool_calls" })),
      "data: [DONE]\n\n",
    ].join(""),
    id: "chatcmpl-7d1f",
    content: "",
    finishReason: "tool_calls",
    toolCalls: [
      { id: "call_a", name: "weather", arguments: '{"city": "Zürich"}' },
      { id: "call_b", name: "time", arguments: "{}" },
    ],
  },
  {
    engine: "llama-server, with comment frames, timings and a last chunk without a blank line",
    text: [
      ":\n\n",
      frame({
        choices: [{ finish_reason: null, index: 0, delta: { role: "assistant", content: null } }],
        ...llamaHead,
      }),
      frame({ choices: [{ finish_reason: null, index: 0, delta: { content: "Paris" } }], ...llamaHead }),
      ": ping\n\n",
      frame({ choices: [{ finish_reason: "length", index: 0, delta: {} }], ...llamaHead }),
      frame({
        choices: [],
        ...llamaHead,
        usage: { completion_tokens: 1, prompt_tokens: 20, total_tokens: 21 },
        timings: { prompt_n: 20, predicted_per_second: 51.5 },
      }),
      "data: [DONE]",
    ].join(""),
    id: "chatcmpl-Xk3",
    content: "Paris",
    finishReason: "length",
    usage: { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 },
  },
  {
    engine: "Ollama, which gives every tool call the index 0, with CRLF",
    text: [
      frame(
        {
          ...ollamaHead,
          choices: [{ index: 0, delta: { role: "assistant", content: "Let me see." }, finish_reason: null }],
        },
        "\r\n",
      ),
      frame(
        {
          ...ollamaHead,
          choices: [
            {
              index: 0,
              delta: {
                role: "assistant",
                content: "",
                tool_calls: [
                  { id: "call_1", index: 0, type: "function", function: { name: "f", arguments: '{"a":1}' } },
                  { id: "call_2", index: 0, type: "function", function: { name: "g", arguments: { b: 2 } } },
                ],
              },
              finish_reason: null,
            },
          ],
        },
        "\r\n",
      ),
      frame(
        {
          ...ollamaHead,
          choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: "tool_calls" }],
        },
        "\r\n",
      ),
      frame(
        { ...ollamaHead, choices: [], usage: { prompt_tokens: 26, completion_tokens: 5, total_tokens: 31 } },
        "\r\n",
      ),
      "data: [DONE]\r\n\r\n",
    ].join(""),
    id: "chatcmpl-581",
    content: "Let me see.",
    finishReason: "tool_calls",
    usage: { prompt_tokens: 26, completion_tokens: 5, total_tokens: 31 },
    toolCalls: [
      { id: "call_1", name: "f", arguments: '{"a":1}' },
      { id: "call_2", name: "g", arguments: '{"b":2}' },
    ],
  },
  {
    engine: "OpenRouter, with processing comments, a foreign reason and usage beside an empty delta",
    text: [
      ": OPENROUTER PROCESSING\n\n",
      ": OPENROUTER PROCESSING\n\n",
      frame({
        ...openRouterHead,
        choices: [
          {
            index: 0,
            delta: { role: "assistant", content: "Hi" },
            finish_reason: null,
            native_finish_reason: null,
            logprobs: null,
          },
        ],
      }),
      frame({
        ...openRouterHead,
        choices: [
          {
            index: 0,
            delta: { role: "assistant", content: " there" },
            finish_reason: null,
            native_finish_reason: null,
            logprobs: null,
          },
        ],
      }),
      frame({
        ...openRouterHead,
        choices: [
          {
            index: 0,
            delta: { role: "assistant", content: "" },
            finish_reason: "eos",
            native_finish_reason: "eos",
            logprobs: null,
          },
        ],
      }),
      frame({
        ...openRouterHead,
        choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null, logprobs: null }],
        usage: {
          prompt_tokens: 8,
          completion_tokens: 2.0,
          total_tokens: 10,
          cost: 0.000_02,
          prompt_tokens_details: null,
        },
      }),
      "data: [DONE]\n\n",
    ].join(""),
    id: "gen-176-abc",
    content: "Hi there",
    finishReason: "stop",
    usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 },
  },
  {
    engine: "Azure, with filter results before and after the text",
    text: [
      frame({
        choices: [],
        created: 0,
        id: "",
        model: "",
        object: "",
        prompt_filter_results: [{ prompt_index: 0, content_filter_results: safe }],
      }),
      frame({
        choices: [
          {
            content_filter_results: {},
            delta: { content: "", refusal: null, role: "assistant" },
            finish_reason: null,
            index: 0,
            logprobs: null,
          },
        ],
        ...azureHead,
      }),
      frame({
        choices: [
          { content_filter_results: safe, delta: { content: "Voilà" }, finish_reason: null, index: 0, logprobs: null },
        ],
        ...azureHead,
      }),
      frame({
        choices: [{ content_filter_results: {}, delta: {}, finish_reason: "stop", index: 0, logprobs: null }],
        ...azureHead,
      }),
      frame({
        choices: [
          { content_filter_offsets: { check_offset: 5 }, content_filter_results: safe, finish_reason: null, index: 0 },
        ],
        created: 0,
        id: "",
        model: "",
        object: "",
      }),
      frame({ choices: [], ...azureHead, usage: { completion_tokens: 4, prompt_tokens: 11, total_tokens: 15 } }),
      "data: [DONE]\n\n",
    ].join(""),
    id: "chatcmpl-Az1",
    content: "Voilà",
    finishReason: "stop",
    usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 },
  },
  {
    engine: "an old server: carriage returns, a byte order mark, data in several lines, no [DONE], no usage",
    text:
      '\uFEFFid: 1\revent: message\rretry: 10\rdata: {"id": "x1", "choices":\rdata: [{"index": "0", "delta": {"content": [{"type": "text", "text": "Ça"}]}}],\rdata: "error": null, "service_tier": "standard", "created": "1760000005"}\r\r' +
      'event: ping\r\rid: 2\r\rdata: {"id":"x2","choices":[{"delta":null,"finish_reason":"end_turn"}]}\r',
    id: "x1",
    content: "Ça",
    finishReason: "stop",
  },
];
