/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

/** A chat completion request. */
export interface ChatRequest {
  /** The conversation so far. */
  messages: {
    /** Who speaks. */
    role: "developer" | "system" | "user" | "assistant" | "tool" | "function";
    /** What is said. Null or absent only for an assistant message that has tool calls. */
    content?: string | {
      /** Kind of part: `text`, `image_url`, `input_audio`, `file` or `refusal`. */
      type: string;
      [member: string]: unknown;
    }[] | null;
    /** Name of the participant, to tell participants of one role apart. */
    name?: string;
    /** Tool calls of an assistant message. */
    tool_calls?: {
      /** Identifier that the tool's answer refers to. */
      id: string;
      /** Only functions are supported. */
      type?: "function";
      /** The call that the model made. */
      function: {
        /** Name of the function. */
        name: string;
        /** Arguments as JSON text. */
        arguments: string;
      };
      [member: string]: unknown;
    }[] | null;
    /** The tool call that a message of role `tool` answers. */
    tool_call_id?: string;
    [member: string]: unknown;
  }[];
  /** Model ID, as `GET /v1/models` lists it. */
  model: string;
  /** Parameters of audio output, for models that speak. */
  audio?: Record<string, unknown> | null;
  /** Penalty on tokens by how often they occurred, -2 to 2. */
  frequency_penalty?: number | null;
  /** Deprecated form of `tool_choice`. */
  function_call?: string | Record<string, unknown> | null;
  /** Deprecated form of `tools`. */
  functions?: Record<string, unknown>[] | null;
  /** Bias per token ID, -100 to 100. */
  logit_bias?: Record<string, number> | null;
  /** Whether the log probabilities of the answer's tokens are returned. */
  logprobs?: boolean | null;
  /** Most tokens that the answer may have, reasoning included. */
  max_completion_tokens?: number | null;
  /** Older name of `max_completion_tokens`. */
  max_tokens?: number | null;
  /** Output types; the interface's name of `modalities`. */
  modality?: string[] | null;
  /** Output types, such as `text` and `audio`. */
  modalities?: string[] | null;
  /** How many choices to generate, 1 to 128. */
  n?: number | null;
  /** Whether the model may call several tools at once. */
  parallel_tool_calls?: boolean | null;
  /** Penalty on tokens that occurred at all, -2 to 2. */
  presence_penalty?: number | null;
  /** Log probabilities of the prompt's tokens with this many alternatives each, as vLLM has it. */
  prompt_logprobs?: number | null;
  /** Form of the answer. */
  response_format?: {
    /** Free text, the default. */
    type: "text";
    [member: string]: unknown;
  } | {
    /** Any JSON object. */
    type: "json_object";
    [member: string]: unknown;
  } | {
    /** JSON that follows a schema. */
    type: "json_schema";
    /** The schema and its name. */
    json_schema: {
      /** Name of the schema. */
      name: string;
      /** What the answer is for, for the model. */
      description?: string;
      /** The JSON Schema. */
      schema?: Record<string, unknown>;
      /** Whether the answer must follow the schema exactly. */
      strict?: boolean | null;
      [member: string]: unknown;
    };
    [member: string]: unknown;
  } | null;
  /** Same seed and parameters: same answer, as far as the engine can. */
  seed?: number | null;
  /** Processing tier: `auto`, `default` or `flex`. */
  service_tier?: "auto" | "default" | "flex" | null;
  /** Up to 4 sequences at which the answer ends. */
  stop?: string | string[] | null;
  /** Whether the vendor may store the answer. */
  store?: boolean | null;
  /** Whether the answer comes as server-sent events. */
  stream?: boolean | null;
  /** Options of a streamed answer; only with `stream`. */
  stream_options?: {
    /** Whether a last chunk carries the usage. */
    include_usage?: boolean | null;
    [member: string]: unknown;
  } | null;
  /** Sampling temperature, 0 to 2. */
  temperature?: number | null;
  /** Which tool the model calls. */
  tool_choice?: "none" | "auto" | "required" | {
    /** Only functions are supported. */
    type: "function";
    /** Which function. */
    function: {
      /** The function that must be called. */
      name: string;
    };
    [member: string]: unknown;
  } | null;
  /** Functions that the model may call. */
  tools?: {
    /** Only functions are supported. */
    type: "function";
    /** The function. */
    function: {
      /** Name of the function. */
      name: string;
      /** What the function does, for the model. */
      description?: string;
      /** JSON Schema of the arguments. */
      parameters?: Record<string, unknown>;
      /** Whether the arguments must follow the schema exactly. */
      strict?: boolean | null;
      [member: string]: unknown;
    };
    [member: string]: unknown;
  }[] | null;
  /** Alternatives per token with their log probabilities, 0 to 20; needs `logprobs`. */
  top_logprobs?: number | null;
  /** Nucleus sampling: only tokens within this probability mass, 0 to 1. */
  top_p?: number | null;
  /** Stable identifier of the end user. */
  user?: string | null;
  /** Options of the vendor's web search. */
  web_search_options?: Record<string, unknown> | null;
  /** The key's own organization, ID or name; another one is refused. Not passed on to the engine. */
  organization_id?: string | null;
  /** More parameters; its members are merged into the top level, where the top level wins. */
  extra_body?: Record<string, unknown> | null;
}

/** A chat completion. */
export interface ChatCompletion {
  /** Unique identifier of the completion. */
  id: string;
  /** UNIX time of creation, seconds. */
  created: number;
  /** The model that answered. */
  model: string;
  /** Processing tier, if the engine tells. */
  service_tier?: string | null;
  /** Fingerprint of model and engine, if the engine tells. */
  system_fingerprint?: string | null;
  /** Always `chat.completion`. */
  object: "chat.completion";
  /** The replies. */
  choices: {
    /** Number of the choice. */
    index: number;
    /** The reply. */
    message: {
      /** Always `assistant`. */
      role: "assistant";
      /** The reply's text. */
      content: string | null;
      /** Why the model refused, if it did. */
      refusal?: string | null;
      /** Tools that the model calls. */
      tool_calls?: {
        /** Identifier for the tool's answer. */
        id: string;
        /** Only functions are supported. */
        type: "function";
        /** The call. */
        function: {
          /** The function. */
          name: string;
          /** Arguments as JSON text. */
          arguments: string;
        };
        [member: string]: unknown;
      }[];
      [member: string]: unknown;
    };
    /** Log probabilities, where asked for. */
    logprobs?: {
      /** The content's tokens. */
      content?: {
        /** The token's text. */
        token: string;
        /** Natural logarithm of its probability. */
        logprob: number;
        /** The token's UTF-8 bytes. */
        bytes: number[] | null;
        /** The most probable alternatives. */
        top_logprobs: {
          /** The alternative's text. */
          token: string;
          /** Natural logarithm of its probability. */
          logprob: number;
          /** The alternative's UTF-8 bytes. */
          bytes: number[] | null;
        }[];
      }[] | null;
      [member: string]: unknown;
    } | null;
    /** Why the answer ended: `stop`, `length`, `tool_calls`, `content_filter` or `function_call`. */
    finish_reason: "stop" | "length" | "tool_calls" | "content_filter" | "function_call" | null;
    [member: string]: unknown;
  }[];
  /** Token counts. */
  usage?: {
    /** Tokens of the prompt. */
    prompt_tokens: number;
    /** Tokens of the answer. */
    completion_tokens: number;
    /** Both together. */
    total_tokens: number;
    /** Parts of the prompt's tokens. */
    prompt_tokens_details?: {
      /** Tokens read from the engine's cache. */
      cached_tokens?: number;
      [member: string]: unknown;
    } | null;
    /** Parts of the answer's tokens. */
    completion_tokens_details?: {
      /** Tokens spent on reasoning. */
      reasoning_tokens?: number;
      [member: string]: unknown;
    } | null;
    [member: string]: unknown;
  };
  /** Log probabilities of the prompt's tokens, as vLLM has them, where asked for. */
  prompt_logprobs?: unknown;
}

/** One chunk of a streamed chat completion. */
export interface ChatCompletionChunk {
  /** Unique identifier of the completion. */
  id: string;
  /** UNIX time of creation, seconds. */
  created: number;
  /** The model that answered. */
  model: string;
  /** Processing tier, if the engine tells. */
  service_tier?: string | null;
  /** Fingerprint of model and engine, if the engine tells. */
  system_fingerprint?: string | null;
  /** Always `chat.completion.chunk`. */
  object: "chat.completion.chunk";
  /** The replies that have something new; empty in the usage chunk. */
  choices: {
    /** Number of the choice. */
    index: number;
    /** What is new. */
    delta: {
      /** In the first delta of a choice. */
      role?: "assistant";
      /** The next piece of text. */
      content?: string | null;
      /** The next piece of a refusal. */
      refusal?: string | null;
      /** Pieces of tool calls. */
      tool_calls?: {
        /** Number of the tool call. */
        index: number;
        /** In the first piece of a tool call. */
        id?: string;
        /** In the first piece of a tool call. */
        type?: "function";
        /** The next piece of the call. */
        function?: {
          /** In the first piece of a tool call. */
          name?: string;
          /** The next piece of the arguments. */
          arguments?: string;
        };
        [member: string]: unknown;
      }[];
      [member: string]: unknown;
    };
    /** Log probabilities, where asked for. */
    logprobs?: {
      /** The content's tokens. */
      content?: {
        /** The token's text. */
        token: string;
        /** Natural logarithm of its probability. */
        logprob: number;
        /** The token's UTF-8 bytes. */
        bytes: number[] | null;
        /** The most probable alternatives. */
        top_logprobs: {
          /** The alternative's text. */
          token: string;
          /** Natural logarithm of its probability. */
          logprob: number;
          /** The alternative's UTF-8 bytes. */
          bytes: number[] | null;
        }[];
      }[] | null;
      [member: string]: unknown;
    } | null;
    /** Why the answer ended: `stop`, `length`, `tool_calls`, `content_filter` or `function_call`. */
    finish_reason: "stop" | "length" | "tool_calls" | "content_filter" | "function_call" | null;
    [member: string]: unknown;
  }[];
  /** Token counts, in the last chunk when `include_usage` was set. */
  usage?: {
    /** Tokens of the prompt. */
    prompt_tokens: number;
    /** Tokens of the answer. */
    completion_tokens: number;
    /** Both together. */
    total_tokens: number;
    /** Parts of the prompt's tokens. */
    prompt_tokens_details?: {
      /** Tokens read from the engine's cache. */
      cached_tokens?: number;
      [member: string]: unknown;
    } | null;
    /** Parts of the answer's tokens. */
    completion_tokens_details?: {
      /** Tokens spent on reasoning. */
      reasoning_tokens?: number;
      [member: string]: unknown;
    } | null;
    [member: string]: unknown;
  } | null;
}

/** A model. */
export interface Model {
  /** Model ID, to be sent as `model`. */
  id: string;
  /** Always `model`. */
  object: "model";
  /** UNIX time of creation, seconds; 0 when unknown. */
  created: number;
  /** Who offers the model: its owner, or the engine that runs it. */
  owned_by: string;
  /** The model that an alias stands for, else the model's own ID. */
  root: string;
  /** The model from which this one was made; null when unknown. */
  parent: string | null;
  /** Always empty; older clients ask for it. */
  permission: unknown[];
}

/** Models. */
export interface ModelList {
  /** Always `list`. */
  object: "list";
  /** The models: those that chat first, each sorted by ID. */
  data: Model[];
}

/** What a recording is transcribed by, and into what. */
export interface TranscriptionRequest {
  /** Model ID. */
  model: string;
  /** How the recording is cut before it is transcribed: `auto`, which is the default, or an object. */
  chunking_strategy?: "auto" | {
    /** Cut where nobody speaks. */
    type: "server_vad";
    /** Sound kept before detected speech, milliseconds; at least 4000 for recordings that begin with silence. Default 4000. */
    prefix_padding_ms?: number | null;
    /** Silence that ends a chunk, milliseconds. Default 5000. */
    silence_duration_ms?: number | null;
    /** Sensitivity; accepted and ignored. */
    threshold?: number | null;
    [member: string]: unknown;
  } | null;
  /** Language that is spoken, such as `en-US` or `fr`. Default `en-US`. */
  language?: string | null;
  /** `json` has the text alone, `verbose_json` times too. Default `json`. */
  response_format?: "json" | "verbose_json" | null;
  /** What is told with its time: `segment`, `word`. Needs `response_format` `verbose_json`. Absent or empty: segments. */
  timestamp_granularities?: ("segment" | "word")[] | null;
  /** Send the text while it is understood, as events. Default false. */
  stream?: boolean | null;
  /** Further things to tell: `logprobs`, where the model knows how sure it is of each word. Others are ignored. */
  include?: string[] | null;
  /** Words that the speaker may have used; ignored by models that cannot be told. */
  prompt?: string | null;
  /** How freely the text is chosen; ignored by models that cannot be told. */
  temperature?: number | null;
  /** Longest time that the answer may take once the recording is there, seconds; then a 408, or the end of the stream. Default 60. */
  timeout?: number | null;
  /** Further parameters; those that are named here as well override these. */
  extra_body?: Record<string, unknown> | null;
}

/** A transcription, the text alone. */
export interface TranscriptionText {
  /** What is said; null when nothing was. */
  text: string | null;
  /** The words with their probabilities, where `include` asks for them. */
  logprobs?: {
    /** The word. */
    token: string;
    /** The word in UTF-8. */
    bytes: number[];
    /** Natural logarithm of the model's confidence. */
    logprob: number;
  }[] | null;
}

/** A transcription with its times. */
export interface TranscriptionVerbose {
  /** Always `transcribe`. */
  task: "transcribe";
  /** The language that was given, or that the model heard, such as `en-US`. */
  language: string;
  /** How long the recording is, seconds. */
  duration: number;
  /** What is said; empty when nothing was. */
  text: string;
  /** The stretches of speech in the order of time. */
  segments: {
    /** Its number, from 0. */
    id: number;
    /** Where it begins in the recording, seconds. */
    seek: number;
    /** When it begins, seconds from the start of the recording. */
    start: number;
    /** When it ends, seconds from the start of the recording. */
    end: number;
    /** What is said. */
    text: string;
    /** Mean natural logarithm of the words' confidence; 0 where the model does not tell it. */
    avg_logprob: number;
    /** Characters a word, on average. */
    compression_ratio: number;
    /** Who speaks: `Guest-1` and so on, or `Unknown`; absent where the model does not tell speakers apart. */
    speaker_id?: string;
  }[];
  /** The words, where they were asked for. */
  words?: {
    /** The word. */
    word: string;
    /** When it begins, seconds from the start of the recording. */
    start: number;
    /** When it ends, seconds from the start of the recording. */
    end: number;
    /** How sure the model is of it; absent where it does not tell. */
    confidence?: number;
    /** The ID of its segment. */
    segment?: number;
  }[];
  /** Who speaks, each once; absent where the model cannot tell. */
  speakers?: string[];
}

/** An event of a streamed transcription. */
export type TranscriptionStreamEvent = {
  /** Always `transcript.text.delta`. */
  type: "transcript.text.delta";
  /** What the text goes on with. All of them joined are the whole text. */
  delta: string;
  /** The same as `delta`. */
  text: string;
  /** Null: words are told with their probabilities when all is said. */
  logprobs: {
    /** The word. */
    token: string;
    /** The word in UTF-8. */
    bytes: number[];
    /** Natural logarithm of the model's confidence. */
    logprob: number;
  }[] | null;
} | {
  /** Always `transcript.word`. */
  type: "transcript.word";
  /** The word. */
  word: string;
  /** When it begins, seconds from the start of the recording. */
  start: number;
  /** When it ends, seconds from the start of the recording. */
  end: number;
  /** How sure the model is of it; absent where it does not tell. */
  confidence?: number;
  /** The ID of its segment. */
  segment?: number;
} | {
  /** Always `transcript.segment`. */
  type: "transcript.segment";
  /** A stretch of speech. */
  segment: {
    /** Its number, from 0. */
    id: number;
    /** Where it begins in the recording, seconds. */
    seek: number;
    /** When it begins, seconds from the start of the recording. */
    start: number;
    /** When it ends, seconds from the start of the recording. */
    end: number;
    /** What is said. */
    text: string;
    /** Mean natural logarithm of the words' confidence; 0 where the model does not tell it. */
    avg_logprob: number;
    /** Characters a word, on average. */
    compression_ratio: number;
    /** Who speaks: `Guest-1` and so on, or `Unknown`; absent where the model does not tell speakers apart. */
    speaker_id?: string;
  };
} | {
  /** Always `transcript.text.done`. */
  type: "transcript.text.done";
  /** The whole text; empty when nothing was said. */
  text: string;
  /** The words with their probabilities, where `include` asks for them; else null. */
  logprobs: {
    /** The word. */
    token: string;
    /** The word in UTF-8. */
    bytes: number[];
    /** Natural logarithm of the model's confidence. */
    logprob: number;
  }[] | null;
};

/** A text and how to speak it. */
export interface SpeechRequest {
  /** Model ID. */
  model: string;
  /** Text to speak, at most 100 000 characters. */
  input: string;
  /** Voice name: one of `GET /v1/audio/voices`, or a well-known one of OpenAI or Azure. */
  voice: string;
  /** Format of the audio. Default `wav`. */
  response_format?: "wav" | "mp3" | "pcm" | "opus" | null;
  /** Pace; 1 is the voice's own, which is the default. */
  speed?: number | null;
  /** How to speak, in words; refused by models that cannot be told. */
  instructions?: string | null;
  /** Send the audio while it is made. Default false. */
  stream?: boolean | null;
  /** `sse`: server-sent events as OpenAI sends them. Default `audio`. */
  stream_format?: "sse" | "audio" | null;
  /** Longest time that the answer may take, seconds; then a 408, or the end of the stream. */
  timeout?: number | null;
  /** Language to speak, such as `en-US` or `fr-FR`. Absent: the voice's own. */
  speech_synthesis_language?: string | null;
  /** Samples a second of the answer. Absent: the engine's own rate. */
  sample_rate?: 8000 | 16000 | 22050 | 24000 | 44100 | 48000 | null;
  /** Tell when each word is spoken: the answer is JSON, or lines of JSON when `stream` is true. Default false. */
  enable_word_boundary?: boolean | null;
  /** Which boundaries to tell. Absent: all three. */
  boundary_types?: ("word" | "punctuation" | "sentence")[] | null;
  /** The same parameters once more, as some clients nest them; the top level comes first. */
  extra_body?: {
    /** Language to speak, such as `en-US` or `fr-FR`. Absent: the voice's own. */
    speech_synthesis_language?: string | null;
    /** Samples a second of the answer. Absent: the engine's own rate. */
    sample_rate?: 8000 | 16000 | 22050 | 24000 | 44100 | 48000 | null;
    /** Tell when each word is spoken: the answer is JSON, or lines of JSON when `stream` is true. Default false. */
    enable_word_boundary?: boolean | null;
    /** Which boundaries to tell. Absent: all three. */
    boundary_types?: ("word" | "punctuation" | "sentence")[] | null;
    [member: string]: unknown;
  } | null;
}

/** Audio with word boundaries. */
export interface SpeechWithBoundaries {
  /** The audio, in base64. */
  audio: string;
  /** The boundaries in the order of time. */
  word_boundaries: TTSWordBoundaryEvent[];
}

/** A word, a sign or a sentence, and when it is spoken. */
export interface TTSWordBoundaryEvent {
  /** Always `word_boundary`. */
  type: "word_boundary";
  /** The word, the sign or the sentence, as it stands in `input`. */
  text: string;
  /** When it begins, milliseconds from the start of the audio. */
  audio_offset_ms: number;
  /** How long it takes, milliseconds. */
  duration_ms: number;
  /** Where it begins in `input`, in UTF-16 code units. */
  text_offset: number;
  /** How long it is in `input`, in UTF-16 code units. */
  word_length: number;
  /** What it is. */
  boundary_type: "word" | "punctuation" | "sentence";
}

/** Voices. */
export interface VoiceList {
  /** Always `list`. */
  object: "list";
  /** The voices, model by model. */
  data: {
    /** Voice name, to be sent as `voice`. */
    name: string;
    /** The model that has the voice, to be sent as `model`. */
    model: string;
    /** Who speaks: the model's owner, or the engine that runs it. */
    engine: string;
    /** Languages that it speaks (BCP 47), its own first; `*` for every language. */
    languages: string[];
    /** How it sounds; null when unknown. */
    gender: "female" | "male" | "neutral" | null;
    /** More about it. */
    description: string | null;
  }[];
}

/** A query of logs. */
export interface LogsQuery {
  /** The key's own organization, which is also the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project where it is bound to one, else all projects. */
  project_name?: string | null;
  /** Only entries of exactly this level. */
  severity?: "debug" | "info" | "warning" | "error" | null;
  /** How far to look back: an integer of at least 1 and `m` (minutes), `h` or `d`. Default "24h". */
  time_window?: string | null;
  /** Most entries over all streams, 1 to 5000: the newest ones. Default 500. */
  limit?: number | null;
}

/** Log entries in Loki's form. */
export interface LogsAnswer {
  /** Always `success`; a failure is an error answer. */
  status: "success";
  /** The result. */
  data: {
    /** Always `streams`. */
    resultType: "streams";
    /** The streams, that with the newest entry first. */
    result: {
      /** The labels: `service_name`, `project_name`, `severity` (debug, info, warning or error), and where there is one `severity_text`, `trace_id`, `span_id`, `scope_name`, `scope_version` and the resource's attributes that tell instances apart. */
      stream: Record<string, string>;
      /** Pairs of a time, nanoseconds since 1970 as a string, and a line; newest first. */
      values: string[][];
    }[];
    /** About this answer: `summary.totalEntriesReturned`. */
    stats: Record<string, unknown>;
  };
}

/** A query of a metric. */
export interface MetricsQuery {
  /** Which metric: a name of docs/reference/metrics.md, or one that the server's configuration adds. */
  metric: string;
  /** The key's own organization, which is also the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project where it is bound to one, else all projects. */
  project_name?: string | null;
  /** Only what this agent did. */
  agent_name?: string | null;
  /** Only what agents of this class did, for example `ToolUseAgent`. */
  agent_class?: string | null;
  /** Only calls of this model. */
  model_key?: string | null;
  /** Only this session. */
  session_id?: string | null;
  /** How it ended, for metrics of agents. Default `success`. */
  status?: "success" | "failure" | "timeout" | null;
  /** Why content was refused, for `rai_rejection_total`. */
  category?: "harassment" | "hate" | "self-harm" | "sexual" | "violence" | "illicit" | null;
  /** For latencies: from 0 to 1, such as `"0.95"`, or from 1 to 100, such as `"95"`. Default "0.95". */
  percentile?: string | number | null;
  /** How far to look back: an integer of at least 1 and `m` (minutes), `h` or `d`. Default "1h". */
  time_window?: string | null;
  /** When given, the answer is a series of values this far apart over `time_window`, for example `"15m"`. Null or empty: "1h". */
  step?: string | null;
}

/** A metric in Prometheus' form. */
export interface MetricsAnswer {
  /** Always `success`; a failure is an error answer. */
  status: "success";
  /** The PromQL query that was executed. */
  query: string;
  /** The result. */
  data: {
    /** `vector`: one value a series, at the present. `matrix`: values over time, when `step` was given. */
    resultType: "vector" | "matrix";
    /** The series, sorted by their labels; none when there is nothing to tell. */
    result: {
      /** The series' labels. */
      metric: Record<string, string>;
      /** Of a vector: a time in seconds since 1970 and a number as text. */
      value?: (number | string)[];
      /** Of a matrix: the values in order of time. */
      values?: ((number | string)[])[];
    }[];
    /** Always empty. */
    analysis: Record<string, unknown>;
  };
}

/** The metrics that can be asked for by name. */
export interface MetricList {
  /** The metrics. */
  data: {
    /** What to give as `metric`. */
    name: string;
    /** Other names of the same. */
    aliases: string[];
    /** What it is about. */
    group: string;
    /** What it tells. */
    description: string;
    /** The unit of its values; empty when not known. */
    unit: string;
    /** The labels that its series have. */
    labels: string[];
    /** The parameters that it takes beside `organization_id`, `time_window` and `step`. */
    filters: string[];
  }[];
}

/** A query of traces. */
export interface TracesQuery {
  /** Which traces: `all_traces`, `inference_traces`, `agent_traces`, `distiller_traces`, `error_traces`, `slow_traces`, or a name that the server's configuration adds. */
  trace: string;
  /** The key's own organization, which is also the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project where it is bound to one, else all projects. */
  project_name?: string | null;
  /** One trace by its ID, 32 hexadecimal digits, whatever `trace` says and however old it is, unless `time_window` is given too. */
  trace_id?: string | null;
  /** How far to look back: an integer of at least 1 and `m` (minutes), `h` or `d`. Default "1h". */
  time_window?: string | null;
  /** Whether each trace comes with its spans. Default true. */
  detail?: boolean | null;
  /** Most traces, 1 to 1000: the newest ones. Default 100. */
  limit?: number | null;
}

/** Traces in Tempo's form. */
export interface TracesAnswer {
  /** The traces, newest first. */
  traces: {
    /** Trace ID, 32 hexadecimal digits. */
    traceID: string;
    /** The service of the root span, or of the earliest span where the root is not known. */
    rootServiceName: string;
    /** The name of the root span, or of the earliest span where the root is not known. */
    rootTraceName: string;
    /** When the earliest span began, nanoseconds since 1970. */
    startTimeUnixNano: string;
    /** From the earliest begin to the latest end, milliseconds. */
    durationMs: number;
    /** The spans by resource; absent with `detail: false`. */
    batches?: {
      /** What made the spans: a service and where it runs. */
      resource: {
        /** Attributes in OpenTelemetry's JSON: `key` and `value`. */
        attributes?: Record<string, unknown>[];
        [member: string]: unknown;
      };
      /** The spans by library. */
      scopeSpans: {
        /** The library that made the spans. */
        scope: Record<string, unknown>;
        /** The spans, earliest first, in Tempo's JSON: IDs in base64, enumerations by name, 64-bit numbers as strings; what is zero or empty is absent. */
        spans: Record<string, unknown>[];
        [member: string]: unknown;
      }[];
      [member: string]: unknown;
    }[];
  }[];
}
