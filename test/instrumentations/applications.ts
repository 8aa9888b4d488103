/** Lists the instrumented applications, and what Sounding must count for each: every call through it once. */

export interface Application {
  readonly name: string;
  /** A file in `applications/`. */
  readonly file: string;
  readonly arguments?: readonly string[];
  /** Whether it also traces its HTTP requests, which passes the trace on to the server. */
  readonly tracesHttp: boolean;
  readonly expected: Expected;
}

export interface Expected {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Agent runs by the agent's name. */
  readonly tasks?: Readonly<Record<string, number>>;
  /** Tool calls by the tool's name. */
  readonly tools?: Readonly<Record<string, number>>;
  /** Sessions that called a model. */
  readonly sessions?: number;
  /** Model calls by the agent that the application names. */
  readonly callsByAgent?: Readonly<Record<string, number>>;
  /** Failed calls by model. */
  readonly failuresByModel?: Readonly<Record<string, number>>;
}

/** A call and a stream with 12 and 5 tokens each, and a call of an unknown model. */
const openai: Expected = { requests: 3, inputTokens: 24, outputTokens: 10, failuresByModel: { nobody: 1 } };
/** Without its trace, a call that failed has nothing in common with Sounding's span of it. */
const untracedOpenai: Expected = { ...openai, requests: 4, failuresByModel: { nobody: 2 } };
/** A chain with one call, and an agent with two calls and a tool. */
const langchain: Expected = {
  requests: 3,
  inputTokens: 36,
  outputTokens: 15,
  tasks: { calculator: 1 },
  tools: { add: 1 },
  callsByAgent: { calculator: 2 },
};
const agent: Expected = {
  requests: 2,
  inputTokens: 24,
  outputTokens: 10,
  tasks: { calculator: 1 },
  tools: { add: 1 },
};
/** An agent with two calls and a tool, a stream, and a call of an unknown model. */
const aiSdk: Expected = {
  requests: 5,
  inputTokens: 36,
  outputTokens: 15,
  tools: { add: 1 },
  failuresByModel: { nobody: 2 },
};

export const applications: readonly Application[] = [
  ...python("openai_v2", untracedOpenai, openai),
  ...python("openllmetry_openai", openai, openai),
  ...python("openinference_openai", { ...untracedOpenai, sessions: 1 }, { ...openai, sessions: 1 }),
  ...python("openllmetry_langchain", langchain, langchain),
  ...python("openinference_langchain", { ...langchain, sessions: 1 }, { ...langchain, sessions: 1 }),
  // OpenInference reports no response ID for OpenAI Agents.
  ...python("openinference_openai_agents", { ...agent, requests: 4, inputTokens: 48, outputTokens: 20 }, agent),
  ...python("pydantic_ai_agent", pydanticAi(), pydanticAi()),
  { name: "ai-sdk", file: "ai-sdk.ts", tracesHttp: false, expected: { ...aiSdk, tasks: { calculator: 3 } } },
  {
    name: "ai-sdk-legacy",
    file: "ai-sdk.ts",
    arguments: ["legacy"],
    tracesHttp: false,
    expected: { ...aiSdk, sessions: 1 },
  },
];

function python(file: string, untraced: Expected, traced: Expected): Application[] {
  return [
    { name: file, file: `${file}.py`, tracesHttp: false, expected: untraced },
    { name: `${file}-traced`, file: `${file}.py`, tracesHttp: true, expected: traced },
  ];
}

function pydanticAi(): Expected {
  return { ...agent, sessions: 1, callsByAgent: { calculator: 2 } };
}
