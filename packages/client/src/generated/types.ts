/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

/** One part of a message's content; its other members depend on `type`. */
export type ChatContentPart = {
  /** Text. */
  type: "text";
  /** The text. */
  text: string;
} | {
  /** An image. */
  type: "image_url";
  /** Where the image is. */
  image_url: {
    /** Address of the image, or the image itself as a `data:` URL. */
    url: string;
    /** Resolution at which the model reads the image. */
    detail?: "auto" | "low" | "high";
  };
} | {
  /** A recording. */
  type: "input_audio";
  /** The recording. */
  input_audio: {
    /** The recording in base64. */
    data: string;
    /** Format of the recording. */
    format: "wav" | "mp3";
  };
} | {
  /** A document. */
  type: "file";
  /** The document. */
  file: {
    /** The document as a `data:` URL. */
    file_data?: string;
    /** Identifier of a document that the vendor stores. */
    file_id?: string;
    /** Name of the document. */
    filename?: string;
  };
} | {
  /** A refusal of an earlier response. */
  type: "refusal";
  /** The text of the refusal. */
  refusal: string;
};

/** One message of the conversation. */
export interface ChatMessage {
  /** Role of the message's author. */
  role: "developer" | "system" | "user" | "assistant" | "tool" | "function";
  /** Content of the message. May be null or absent only in assistant messages with tool calls. */
  content?: string | ChatContentPart[] | null;
  /** Name of the participant, to distinguish participants with the same role. */
  name?: string;
  /** Tool calls of an assistant message. */
  tool_calls?: {
    /** Identifier that the tool's result refers to. */
    id: string;
    /** Only functions are supported. */
    type?: "function";
    /** The function that the model called. */
    function: {
      /** Name of the function. */
      name: string;
      /** Arguments, encoded as JSON. */
      arguments: string;
    };
  }[] | null;
  /** The tool call that a `tool` message responds to. */
  tool_call_id?: string;
}

/** A chat completion request. */
export interface ChatRequest {
  /** The conversation so far. */
  messages: ChatMessage[];
  /** Model ID, as `GET /v1/models` lists it. */
  model: string;
  /** Audio output parameters, for models that generate audio. */
  audio?: Record<string, unknown> | null;
  /** Penalty on tokens in proportion to how often they have occurred, -2 to 2. */
  frequency_penalty?: number | null;
  /** Deprecated form of `tool_choice`. */
  function_call?: string | Record<string, unknown> | null;
  /** Deprecated form of `tools`. */
  functions?: Record<string, unknown>[] | null;
  /** Bias by token ID, -100 to 100. */
  logit_bias?: Record<string, number> | null;
  /** Whether to return the log probabilities of the response's tokens. */
  logprobs?: boolean | null;
  /** Maximum number of tokens to generate, including reasoning. */
  max_completion_tokens?: number | null;
  /** Deprecated form of `max_completion_tokens`. */
  max_tokens?: number | null;
  /** Alternative name of `modalities`. */
  modality?: string[] | null;
  /** Output types, such as `text` and `audio`. */
  modalities?: string[] | null;
  /** Number of choices to generate, 1 to 128. */
  n?: number | null;
  /** Whether the model may call several tools in one response. */
  parallel_tool_calls?: boolean | null;
  /** Penalty on tokens that have already occurred, -2 to 2. */
  presence_penalty?: number | null;
  /** Return log probabilities of the prompt tokens with this many alternatives each, as vLLM does. */
  prompt_logprobs?: number | null;
  /** Format of the response. */
  response_format?: {
    /** Free text (the default). */
    type: "text";
  } | {
    /** Any JSON object. */
    type: "json_object";
  } | {
    /** JSON that matches a schema. */
    type: "json_schema";
    /** The schema and its name. */
    json_schema: {
      /** Name of the schema. */
      name: string;
      /** Description of the response format, for the model. */
      description?: string;
      /** The JSON Schema. */
      schema?: Record<string, unknown>;
      /** Whether the response must match the schema exactly. */
      strict?: boolean | null;
    };
  } | null;
  /** Seed for sampling. The same seed and parameters give the same response, if the engine supports it. */
  seed?: number | null;
  /** Processing tier: `auto`, `default` or `flex`. */
  service_tier?: "auto" | "default" | "flex" | null;
  /** Up to four sequences that end generation. */
  stop?: string | string[] | null;
  /** Whether the vendor may store the response. */
  store?: boolean | null;
  /** Whether to stream the response as server-sent events. */
  stream?: boolean | null;
  /** Options for streaming; allowed only with `stream`. */
  stream_options?: {
    /** Whether to send the token counts in a final chunk. */
    include_usage?: boolean | null;
  } | null;
  /** Sampling temperature, 0 to 2. */
  temperature?: number | null;
  /** Which tool the model calls. */
  tool_choice?: "none" | "auto" | "required" | {
    /** Only functions are supported. */
    type: "function";
    /** The function. */
    function: {
      /** The function to call. */
      name: string;
    };
  } | null;
  /** Functions that the model may call. */
  tools?: {
    /** Only functions are supported. */
    type: "function";
    /** The function. */
    function: {
      /** Name of the function. */
      name: string;
      /** Description of the function, for the model. */
      description?: string;
      /** JSON Schema of the arguments. */
      parameters?: Record<string, unknown>;
      /** Whether the arguments must match the schema exactly. */
      strict?: boolean | null;
    };
  }[] | null;
  /** Number of alternatives per token to return with their log probabilities, 0 to 20; requires `logprobs`. */
  top_logprobs?: number | null;
  /** Nucleus sampling: sample only from the tokens within this probability mass, 0 to 1. */
  top_p?: number | null;
  /** Stable identifier of the end user. */
  user?: string | null;
  /** Options of the vendor's web search. */
  web_search_options?: Record<string, unknown> | null;
  /** The key's own organization, by ID or name; any other is refused. Not sent to the engine. */
  organization_id?: string | null;
  /** Additional parameters. Its members are merged into the top level; top-level members take precedence. */
  extra_body?: Record<string, unknown> | null;
}

/** A chat completion. */
export interface ChatCompletion {
  /** Unique identifier of the completion. */
  id: string;
  /** UNIX time of creation, in seconds. */
  created: number;
  /** The model that generated the response. */
  model: string;
  /** Processing tier, if the engine reports one. */
  service_tier?: string | null;
  /** Fingerprint of the model and engine, if the engine reports one. */
  system_fingerprint?: string | null;
  /** Always `chat.completion`. */
  object: "chat.completion";
  /** The generated choices. */
  choices: {
    /** Index of the choice. */
    index: number;
    /** The generated message. */
    message: {
      /** Always `assistant`. */
      role: "assistant";
      /** Text of the message. */
      content: string | null;
      /** The model's refusal, if it refused. */
      refusal?: string | null;
      /** The model's reasoning, if the engine returns it. */
      reasoning_content?: string | null;
      /** Tools that the model calls. */
      tool_calls?: {
        /** Identifier that the tool's result refers to. */
        id: string;
        /** Only functions are supported. */
        type: "function";
        /** The function call. */
        function: {
          /** The function. */
          name: string;
          /** Arguments, encoded as JSON. */
          arguments: string;
        };
      }[];
    };
    /** Log probabilities, if requested. */
    logprobs?: {
      /** The tokens of the content. */
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
    } | null;
    /** Why generation stopped: `stop`, `length`, `tool_calls`, `content_filter` or `function_call`. */
    finish_reason: "stop" | "length" | "tool_calls" | "content_filter" | "function_call" | null;
  }[];
  /** Token counts. */
  usage?: {
    /** Number of prompt tokens. */
    prompt_tokens: number;
    /** Number of completion tokens. */
    completion_tokens: number;
    /** Prompt and completion tokens together. */
    total_tokens: number;
    /** Breakdown of the prompt tokens. */
    prompt_tokens_details?: {
      /** Tokens read from the engine's prompt cache. */
      cached_tokens?: number;
      /** Tokens written to the engine's prompt cache. */
      cache_write_tokens?: number;
      /** Of those written: tokens that the cache keeps for an hour. */
      cache_write_1h_tokens?: number;
      /** Audio tokens. */
      audio_tokens?: number;
    } | null;
    /** Breakdown of the completion tokens. */
    completion_tokens_details?: {
      /** Tokens used for reasoning. */
      reasoning_tokens?: number;
      /** Audio tokens. */
      audio_tokens?: number;
      /** Tokens of images. */
      image_tokens?: number;
      /** Tokens of pages that the model found and read. */
      citation_tokens?: number;
    } | null;
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  };
  /** Log probabilities of the prompt tokens in vLLM's format, if requested. */
  prompt_logprobs?: unknown;
}

/** One chunk of a streamed chat completion. */
export interface ChatCompletionChunk {
  /** Unique identifier of the completion. */
  id: string;
  /** UNIX time of creation, in seconds. */
  created: number;
  /** The model that generated the response. */
  model: string;
  /** Processing tier, if the engine reports one. */
  service_tier?: string | null;
  /** Fingerprint of the model and engine, if the engine reports one. */
  system_fingerprint?: string | null;
  /** Always `chat.completion.chunk`. */
  object: "chat.completion.chunk";
  /** The choices that this chunk adds to; empty in the usage chunk. */
  choices: {
    /** Index of the choice. */
    index: number;
    /** What this chunk adds to the message. */
    delta: {
      /** Sent in the first delta of a choice. */
      role?: "assistant";
      /** The next piece of text. */
      content?: string | null;
      /** The next piece of the refusal. */
      refusal?: string | null;
      /** The next piece of the reasoning. */
      reasoning_content?: string | null;
      /** Pieces of tool calls. */
      tool_calls?: {
        /** Index of the tool call. */
        index: number;
        /** Sent in the first piece of a tool call. */
        id?: string;
        /** Sent in the first piece of a tool call. */
        type?: "function";
        /** The next piece of the function call. */
        function?: {
          /** Sent in the first piece of a tool call. */
          name?: string;
          /** The next piece of the arguments. */
          arguments?: string;
        };
      }[];
    };
    /** Log probabilities, if requested. */
    logprobs?: {
      /** The tokens of the content. */
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
    } | null;
    /** Why generation stopped: `stop`, `length`, `tool_calls`, `content_filter` or `function_call`. */
    finish_reason: "stop" | "length" | "tool_calls" | "content_filter" | "function_call" | null;
  }[];
  /** Token counts, in the last chunk if `include_usage` was set. */
  usage?: {
    /** Number of prompt tokens. */
    prompt_tokens: number;
    /** Number of completion tokens. */
    completion_tokens: number;
    /** Prompt and completion tokens together. */
    total_tokens: number;
    /** Breakdown of the prompt tokens. */
    prompt_tokens_details?: {
      /** Tokens read from the engine's prompt cache. */
      cached_tokens?: number;
      /** Tokens written to the engine's prompt cache. */
      cache_write_tokens?: number;
      /** Of those written: tokens that the cache keeps for an hour. */
      cache_write_1h_tokens?: number;
      /** Audio tokens. */
      audio_tokens?: number;
    } | null;
    /** Breakdown of the completion tokens. */
    completion_tokens_details?: {
      /** Tokens used for reasoning. */
      reasoning_tokens?: number;
      /** Audio tokens. */
      audio_tokens?: number;
      /** Tokens of images. */
      image_tokens?: number;
      /** Tokens of pages that the model found and read. */
      citation_tokens?: number;
    } | null;
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  } | null;
}

/** A request for embeddings. Fields that are not described here are passed to OpenAI-compatible engines; others take those that they know and refuse the rest. */
export interface EmbeddingRequest {
  /** Model ID, as `GET /v1/models` lists it. */
  model: string;
  /** What to embed: a text, up to 2,048 texts, or the same as tokens of the model. */
  input: string | string[] | number[] | number[][];
  /** Length of the vectors, for models that can shorten them. */
  dimensions?: number | null;
  /** `float` (the default): numbers; `base64`: 32-bit floats, little-endian, in base64. */
  encoding_format?: "float" | "base64" | null;
  /** Stable identifier of the end user. */
  user?: string | null;
}

/** Vectors of texts. */
export interface EmbeddingList {
  /** Always `list`. */
  object: "list";
  /** The vectors, in the order of the inputs. */
  data: {
    /** Always `embedding`. */
    object: "embedding";
    /** Index of the input. */
    index: number;
    embedding: number[] | string;
  }[];
  /** The model that made the vectors. */
  model: string;
  /** Token counts. */
  usage: {
    /** Number of tokens; an estimate if the engine tells none. */
    prompt_tokens: number;
    /** The same number. */
    total_tokens: number;
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  };
}

/** A model. */
export interface Model {
  /** Model ID, to be sent as `model`. */
  id: string;
  /** Always `model`. */
  object: "model";
  /** UNIX time of creation, seconds; 0 when unknown. */
  created: number;
  /** The model's owner, or the engine that runs it. */
  owned_by: string;
  /** For an alias, the model behind it; otherwise the model's own ID. */
  root: string;
  /** The model that this one was derived from; null when unknown. */
  parent: string | null;
  /** Always empty; kept for older clients. */
  permission: unknown[];
  /** What the model is for. OpenAI-compatible servers do not report it: then the setting `capabilities` of the engine says it, else the model's name. */
  capabilities: ("chat" | "speech" | "transcription" | "embeddings")[];
  /** The engine that runs the model; of several, the first. */
  engine: string;
  /** `ready`; `not_loaded` for a model of this machine that its next call loads into memory; `unavailable` if its latest calls failed. */
  state: "ready" | "not_loaded" | "unavailable";
  /** Why the model is unavailable; otherwise null. */
  state_reason: string | null;
}

/** Models. */
export interface ModelList {
  /** Always `list`. */
  object: "list";
  /** The models: chat models first, each group sorted by ID. */
  data: Model[];
}

/** Prices. */
export interface PriceList {
  /** Always `list`. */
  object: "list";
  /** Currency of all prices: its code in ISO 4217. */
  currency: string;
  /** The table of published prices; null if they do not count. */
  published: {
    /** Release of genai-prices. */
    version: string;
    /** Day of the release. */
    date: string;
  } | null;
  /** The prices, sorted by model. */
  data: {
    /** Always `price`. */
    object: "price";
    /** Model ID. */
    model: string;
    /** The engine that the price is for; a model can have several. */
    engine: string;
    /** The model's name at the engine. */
    engine_model: string;
    /** `organization`: by `telemetry.organization_prices`, for the caller's organization; `configured`: by `telemetry.token_prices`; `published`: by the model's vendor; `unknown`: calls have no cost. */
    source: "organization" | "configured" | "published" | "unknown";
    /** The name under `telemetry.organization_prices` or `telemetry.token_prices`, or the vendor and its name of the model; null if the price is unknown. */
    name: string | null;
    /** Why the price is unknown; otherwise null. */
    reason: string | null;
    /** The prices in the order of their days; empty if they are unknown. */
    prices: {
      /** First day on which the price holds, in UTC; null if it holds from the beginning. */
      from: string | null;
      /** Hours of the day when the price holds; null for all. */
      hours: {
        /** Start, such as `16:30:00`. */
        from: string;
        /** End; earlier than the start if the hours include midnight. */
        to: string;
      } | null;
      /** Whether it holds now. */
      current: boolean;
      /** How the price was converted; null if it was given in the currency of the list. */
      converted_from: {
        /** Currency in which the price was given: its code in ISO 4217. */
        currency: string;
        /** What one unit of it is in the currency of the list; all amounts were multiplied by it. */
        exchange_rate: number;
      } | null;
      /** By the number of input tokens; empty if tokens have no price. */
      tokens: {
        /** The rates are those of calls with more input tokens than this; 0 for the first ones. */
        above: number;
        /** Input tokens. */
        input: number;
        /** Output tokens. */
        output: number;
        /** Input tokens that were read from a cache. */
        cache_read: number;
        /** Input tokens that were written to a cache. */
        cache_write: number;
        /** The same for tokens that the cache keeps for an hour. */
        cache_write_1h: number;
        /** Audio tokens of the input. */
        audio_input: number;
        /** Audio tokens that were read from a cache. */
        audio_cache_read: number;
        /** Audio tokens of the output. */
        audio_output: number;
        /** Output tokens of images. */
        image_output: number;
        /** Output tokens of reasoning. */
        reasoning: number;
        /** Tokens of pages that the model found and read. */
        citation: number;
      }[];
      /** The same for calls that the vendor processed in a service tier, by its name. */
      service_tiers: Record<string, {
        /** The rates are those of calls with more input tokens than this; 0 for the first ones. */
        above: number;
        /** Input tokens. */
        input: number;
        /** Output tokens. */
        output: number;
        /** Input tokens that were read from a cache. */
        cache_read: number;
        /** Input tokens that were written to a cache. */
        cache_write: number;
        /** The same for tokens that the cache keeps for an hour. */
        cache_write_1h: number;
        /** Audio tokens of the input. */
        audio_input: number;
        /** Audio tokens that were read from a cache. */
        audio_cache_read: number;
        /** Audio tokens of the output. */
        audio_output: number;
        /** Output tokens of images. */
        image_output: number;
        /** Output tokens of reasoning. */
        reasoning: number;
        /** Tokens of pages that the model found and read. */
        citation: number;
      }[]>;
      /** One million characters of text to speak. */
      characters: number | null;
      /** One minute of audio, transcribed or spoken. */
      audio_minute: number | null;
      /** One call, in addition to what it uses. */
      request: number | null;
      /** One thousand searches of the web. */
      web_searches: number | null;
    }[];
  }[];
}

/** Parameters of a transcription. */
export interface TranscriptionRequest {
  /** Model ID. */
  model: string;
  /** How the recording is split before transcription: `auto` (the default), or an object. */
  chunking_strategy?: "auto" | {
    /** Split at pauses in speech. */
    type: "server_vad";
    /** Audio to keep before detected speech, in milliseconds; at least 4000 for recordings that start with silence. Default 4000. */
    prefix_padding_ms?: number | null;
    /** Silence that ends a chunk, in milliseconds. Default 5000. */
    silence_duration_ms?: number | null;
    /** Sensitivity; accepted and ignored. */
    threshold?: number | null;
  } | null;
  /** Spoken language, such as `en-US` or `fr`. Absent or `auto`: the only language of a model that knows one, such as `en-US`; a model that knows several detects it. */
  language?: string | null;
  /** `json` returns only the text, `verbose_json` also times. Default `json`. A server with `transcription.text_formats` also accepts OpenAI's `text`, `srt` and `vtt`. */
  response_format?: "json" | "verbose_json" | null;
  /** Timings to return: `segment`, `word`. Requires `response_format` `verbose_json`. Absent or empty: segments. */
  timestamp_granularities?: ("segment" | "word")[] | null;
  /** Stream the text as events while it is recognized. Default false. */
  stream?: boolean | null;
  /** Additional data to return: `logprobs`, if the model reports its confidence in each word. Other values are ignored. */
  include?: string[] | null;
  /** Words that the speaker may use; ignored by models without support for prompts. */
  prompt?: string | null;
  /** Sampling temperature; ignored by models without support for it. */
  temperature?: number | null;
  /** Maximum time for the response once the recording has arrived, in seconds. After that the call fails with 408, or the stream ends with an error. Default 60, plus 3 for each second of the recording. */
  timeout?: number | null;
  /** Additional parameters; members with the name of another field override that field. */
  extra_body?: Record<string, unknown> | null;
}

/** A transcription as text only. */
export interface TranscriptionText {
  /** The text; null if nothing was said. */
  text: string | null;
  /** The words with their log probabilities, if `include` requests them. */
  logprobs?: {
    /** The word. */
    token: string;
    /** The word's UTF-8 bytes. */
    bytes: number[];
    /** Log probability of the word. */
    logprob: number;
  }[] | null;
  /** What was used, and what it cost; absent if the cost is not known. */
  usage?: {
    /** The recording's length is charged for. */
    type: "duration";
    /** Length of the recording in seconds. */
    seconds: number;
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  } | {
    /** Tokens are charged for. */
    type: "tokens";
    /** Tokens of the recording and the prompt. */
    input_tokens: number;
    /** Tokens of the text. */
    output_tokens: number;
    /** All tokens. */
    total_tokens: number;
    /** Parts of the input. */
    input_token_details: {
      /** Tokens of the recording. */
      audio_tokens: number;
      /** Tokens of the prompt. */
      text_tokens: number;
    };
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  };
}

/** A transcription with times. */
export interface TranscriptionVerbose {
  /** `transcribe`, or `translate` for a translation. */
  task: "transcribe" | "translate";
  /** The language that was requested or that the model detected, such as `en-US`. */
  language: string;
  /** Length of the recording in seconds. */
  duration: number;
  /** The text; empty if nothing was said. */
  text: string;
  /** The segments in order of time. */
  segments: {
    /** Index of the segment, from 0. */
    id: number;
    /** Position in the recording, in seconds. */
    seek: number;
    /** Start, in seconds from the start of the recording. */
    start: number;
    /** End, in seconds from the start of the recording. */
    end: number;
    /** Text of the segment. */
    text: string;
    /** Mean log probability of the words; 0 if the model does not report it. */
    avg_logprob: number;
    /** Average number of characters per word. */
    compression_ratio: number;
    /** The speaker: `Guest-1` and so on, or `Unknown`; absent if the model does not identify speakers. */
    speaker_id?: string;
  }[];
  /** The words, if requested. */
  words?: {
    /** The word. */
    word: string;
    /** Start, in seconds from the start of the recording. */
    start: number;
    /** End, in seconds from the start of the recording. */
    end: number;
    /** The model's confidence; absent if it reports none. */
    confidence?: number;
    /** ID of the word's segment. */
    segment?: number;
  }[];
  /** The speakers, each once; absent if the model does not identify speakers. */
  speakers?: string[];
  /** What was used, and what it cost; absent if the cost is not known. */
  usage?: {
    /** The recording's length is charged for. */
    type: "duration";
    /** Length of the recording in seconds. */
    seconds: number;
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  } | {
    /** Tokens are charged for. */
    type: "tokens";
    /** Tokens of the recording and the prompt. */
    input_tokens: number;
    /** Tokens of the text. */
    output_tokens: number;
    /** All tokens. */
    total_tokens: number;
    /** Parts of the input. */
    input_token_details: {
      /** Tokens of the recording. */
      audio_tokens: number;
      /** Tokens of the prompt. */
      text_tokens: number;
    };
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  };
}

/** An event of a streamed transcription. */
export type TranscriptionStreamEvent = {
  /** Always `transcript.text.delta`. */
  type: "transcript.text.delta";
  /** The next piece of the text. All pieces joined are the complete text. */
  delta: string;
  /** Same as `delta`. */
  text: string;
  /** Always null; log probabilities are sent at the end. */
  logprobs: {
    /** The word. */
    token: string;
    /** The word's UTF-8 bytes. */
    bytes: number[];
    /** Log probability of the word. */
    logprob: number;
  }[] | null;
} | {
  /** Always `transcript.word`. */
  type: "transcript.word";
  /** The word. */
  word: string;
  /** Start, in seconds from the start of the recording. */
  start: number;
  /** End, in seconds from the start of the recording. */
  end: number;
  /** The model's confidence; absent if it reports none. */
  confidence?: number;
  /** ID of the word's segment. */
  segment?: number;
} | {
  /** Always `transcript.segment`. */
  type: "transcript.segment";
  /** A segment of speech. */
  segment: {
    /** Index of the segment, from 0. */
    id: number;
    /** Position in the recording, in seconds. */
    seek: number;
    /** Start, in seconds from the start of the recording. */
    start: number;
    /** End, in seconds from the start of the recording. */
    end: number;
    /** Text of the segment. */
    text: string;
    /** Mean log probability of the words; 0 if the model does not report it. */
    avg_logprob: number;
    /** Average number of characters per word. */
    compression_ratio: number;
    /** The speaker: `Guest-1` and so on, or `Unknown`; absent if the model does not identify speakers. */
    speaker_id?: string;
  };
} | {
  /** Always `transcript.text.done`. */
  type: "transcript.text.done";
  /** The complete text; empty if nothing was said. */
  text: string;
  /** The words with their log probabilities if `include` requests them; otherwise null. */
  logprobs: {
    /** The word. */
    token: string;
    /** The word's UTF-8 bytes. */
    bytes: number[];
    /** Log probability of the word. */
    logprob: number;
  }[] | null;
  /** The language that the model found, such as `en-US`, if the request names none. */
  language?: string;
  /** What was used, and what it cost; absent if the cost is not known. */
  usage?: {
    /** The recording's length is charged for. */
    type: "duration";
    /** Length of the recording in seconds. */
    seconds: number;
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  } | {
    /** Tokens are charged for. */
    type: "tokens";
    /** Tokens of the recording and the prompt. */
    input_tokens: number;
    /** Tokens of the text. */
    output_tokens: number;
    /** All tokens. */
    total_tokens: number;
    /** Parts of the input. */
    input_token_details: {
      /** Tokens of the recording. */
      audio_tokens: number;
      /** Tokens of the prompt. */
      text_tokens: number;
    };
    /** What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known. */
    cost?: number;
    /** Parts of the cost. */
    cost_details?: {
      /** Cost of the prompt, of the call itself and of searches. */
      upstream_inference_prompt_cost?: number;
      /** Cost of what was generated. */
      upstream_inference_completions_cost?: number;
    } | null;
  };
};

/** A text and how to speak it. */
export interface SpeechRequest {
  /** Model ID. */
  model: string;
  /** Text to synthesize, at most 100 000 characters by default. */
  input: string;
  /** Voice: one of `GET /v1/audio/voices`, or a well-known voice name of OpenAI or Azure. */
  voice: string;
  /** Audio format. Default `wav`. */
  response_format?: "wav" | "mp3" | "pcm" | "opus" | null;
  /** Speaking rate; 1, the default, is the voice's own. */
  speed?: number | null;
  /** How to speak, as free text; refused by models that do not support it. */
  instructions?: string | null;
  /** Stream the audio while it is generated. Default false. */
  stream?: boolean | null;
  /** `sse` sends server-sent events in OpenAI's format. Default `audio`. */
  stream_format?: "sse" | "audio" | null;
  /** Maximum time for the response, in seconds. After that the call fails with 408, or the stream ends with an error. */
  timeout?: number | null;
  /** Language of the text, such as `en-US` or `fr-FR`. Absent: the voice's own language. */
  speech_synthesis_language?: string | null;
  /** Sample rate of the audio in Hz. Absent: the engine's own rate. */
  sample_rate?: 8000 | 16000 | 22050 | 24000 | 44100 | 48000 | null;
  /** Return word timings: the response is JSON, or JSON lines if `stream` is true. Default false. */
  enable_word_boundary?: boolean | null;
  /** Types of boundaries to return. Absent: all three. */
  boundary_types?: ("word" | "punctuation" | "sentence")[] | null;
  /** The same parameters, nested, as some clients send them; top-level parameters take precedence. */
  extra_body?: {
    /** Language of the text, such as `en-US` or `fr-FR`. Absent: the voice's own language. */
    speech_synthesis_language?: string | null;
    /** Sample rate of the audio in Hz. Absent: the engine's own rate. */
    sample_rate?: 8000 | 16000 | 22050 | 24000 | 44100 | 48000 | null;
    /** Return word timings: the response is JSON, or JSON lines if `stream` is true. Default false. */
    enable_word_boundary?: boolean | null;
    /** Types of boundaries to return. Absent: all three. */
    boundary_types?: ("word" | "punctuation" | "sentence")[] | null;
  } | null;
}

/** Audio with word boundaries. */
export interface SpeechWithBoundaries {
  /** The audio, in base64. */
  audio: string;
  /** The boundaries in order of time. */
  word_boundaries: TTSWordBoundaryEvent[];
}

/** A word, punctuation mark or sentence, and when it is spoken. */
export interface TTSWordBoundaryEvent {
  /** Always `word_boundary`. */
  type: "word_boundary";
  /** The word, punctuation mark or sentence, as it appears in `input`. */
  text: string;
  /** Start, in milliseconds from the start of the audio. */
  audio_offset_ms: number;
  /** Duration in milliseconds. */
  duration_ms: number;
  /** Start position in `input`, in UTF-16 code units. */
  text_offset: number;
  /** Length in `input`, in UTF-16 code units. */
  word_length: number;
  /** Type of the boundary. */
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
    /** The model's owner, or the engine that runs it. */
    engine: string;
    /** Languages of the voice (BCP 47), its main language first; `*` for every language. */
    languages: string[];
    /** Gender of the voice; null when unknown. */
    gender: "female" | "male" | "neutral" | null;
    /** More about the voice. */
    description: string | null;
  }[];
}

/** A log query. An entry must match all filters. */
export interface LogsQuery {
  /** The key's own organization, which is the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project if it is bound to one, otherwise all projects. */
  project_name?: string | null;
  /** Only entries with exactly this level. */
  severity?: "debug" | "info" | "warning" | "error" | null;
  /** Only entries with one of these levels. */
  severities?: ("debug" | "info" | "warning" | "error")[] | null;
  /** Only entries with this level or a higher one. */
  min_severity?: "debug" | "info" | "warning" | "error" | null;
  /** Only entries whose message contains this text, in upper or lower case. If the message is a map or a list, one of its keys or values must contain the text. */
  search?: string | null;
  /** Only entries of this service. */
  service_name?: string | null;
  /** Only entries of the trace with this ID (32 hexadecimal digits). */
  trace_id?: string | null;
  /** Only entries of the span with this ID (16 hexadecimal digits). */
  span_id?: string | null;
  /** Only entries that have each of these attributes, or whose resource has it, with exactly this value. Values are compared as text: `200` and `"200"` match the integer 200. */
  attributes?: Record<string, string | number | boolean> | null;
  /** No entries with one of these levels. */
  exclude_severities?: ("debug" | "info" | "warning" | "error")[] | null;
  /** No entries of these services, at most 16. */
  exclude_services?: string[] | null;
  /** No entries of these projects, at most 16. */
  exclude_projects?: string[] | null;
  /** No entries that have one of these attributes, or whose resource has it, with exactly one of the values in its list. Entries without the attribute remain. Values are compared as text. */
  exclude_attributes?: Record<string, (string | number | boolean)[]> | null;
  /** How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "24h". */
  time_window?: string | null;
  /** Only entries at this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Not together with `time_window`. */
  start?: string | null;
  /** Only entries before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now. */
  end?: string | null;
  /** Maximum number of entries over all streams, 1 to 5000: the newest, or with `direction: forward` the oldest. Default 500. */
  limit?: number | null;
  /** `backward` returns the newest entries first, `forward` the oldest first. Default `backward`. */
  direction?: "backward" | "forward" | null;
  /** Requests the entries page by page: "" for the first page, then `next_cursor` of the previous response together with the same filters. The `id` of an entry is a cursor too: the page begins after this entry. */
  cursor?: string | null;
  /** Whether each entry has its attributes as a third element: `structuredMetadata`, as in Loki. Default false. */
  detail?: boolean | null;
  /** Whether the third element of each entry has its `id` too. Only together with `detail: true`. Default false. */
  ids?: boolean | null;
}

/** Log entries in Loki's response format. */
export interface LogsAnswer {
  /** Always `success`; failures are error responses. */
  status: "success";
  /** The result. */
  data: {
    /** Always `streams`. */
    resultType: "streams";
    /** The streams, in the order of their first entries. */
    result: {
      /** The labels: `service_name`, `project_name`, `severity` (debug, info, warning or error) and, if present, `severity_text`, `trace_id`, `span_id`, `scope_name`, `scope_version` and the resource attributes that identify instances. */
      stream: Record<string, string>;
      /** Pairs of a UNIX time in nanoseconds, as a string, and a line; newest first, or oldest first with `direction: forward`. With `detail: true` each has its attributes as a third element. */
      values: [string, string, {
        /** The attributes of the log record under OpenTelemetry's names, with their values as text: lists and maps as JSON. `event_name` is the name of an event whose line is its body. */
        structuredMetadata: Record<string, string>;
        /** With `ids: true`: identifies the entry within the organization, and is a `cursor` to the entries after it. */
        id?: string;
      }?][];
    }[];
    /** Statistics of this response: `summary.totalEntriesReturned`. */
    stats: Record<string, unknown>;
  };
  /** Only if the request has a `cursor`: the cursor of the next page; null if this is the last page. */
  next_cursor?: string | null;
  /** Only if the search did not look into everything: recorded content that the server encrypts. */
  warnings?: string[] | null;
}

/** A metrics query. */
export interface MetricsQuery {
  /** The metric: a name listed in docs/reference/metrics.md, or one that the server's configuration adds. */
  metric: string;
  /** The key's own organization, which is the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project if it is bound to one, otherwise all projects. */
  project_name?: string | null;
  /** Only activity of this service: `service.name` of what it sends. Of a call that Sounding served, the service is the application whose span of the call arrived in the same project, otherwise `sounding`. */
  service_name?: string | null;
  /** Only activity of this agent. */
  agent_name?: string | null;
  /** Only activity of agents of this class, for example `ToolUseAgent`. */
  agent_class?: string | null;
  /** Only calls of this model. */
  model_key?: string | null;
  /** Only this session. */
  session_id?: string | null;
  /** Only calls for this end user: `user` or `safety_identifier` of a chat completion, the header `x-user-id`, or `user.id` of a span. */
  user_id?: string | null;
  /** Only calls that this server served with this API key. */
  key_id?: string | null;
  /** Outcome to count, for agent metrics. Default `success`. */
  status?: "success" | "failure" | "timeout" | null;
  /** Category of the rejection, for `rai_rejection_total`. */
  category?: "harassment" | "hate" | "self-harm" | "sexual" | "violence" | "illicit" | null;
  /** Quantile of latencies: 0 to 1, such as `"0.95"`, or a percentile from 1 to 100, such as `"95"`. Default "0.95". */
  percentile?: string | number | null;
  /** How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "1h". */
  time_window?: string | null;
  /** When the window ends: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now; with a `step` and a `time_window` of at least 12 minutes or hours, the end of the current minute or hour. */
  end?: string | null;
  /** Return a time series with values at this interval over `time_window`, for example `"15m"`. Null or empty: "1h". */
  step?: string | null;
}

/** A metric in Prometheus' response format. */
export interface MetricsAnswer {
  /** Always `success`; failures are error responses. */
  status: "success";
  /** The PromQL query that was executed. */
  query: string;
  /** The result. */
  data: {
    /** `vector`: one current value per series. `matrix`: values over time, if `step` was sent. */
    resultType: "vector" | "matrix";
    /** The series, sorted by their labels; empty if there is no data. */
    result: {
      /** The series' labels. */
      metric: Record<string, string>;
      /** In a vector: UNIX time in seconds, and the value as text. */
      value?: (number | string)[];
      /** In a matrix: the values in order of time. */
      values?: ((number | string)[])[];
    }[];
    /** Always empty. */
    analysis: Record<string, unknown>;
  };
}

/** The metrics that can be queried by name. */
export interface MetricList {
  /** The metrics. */
  data: {
    /** Value to send as `metric`. */
    name: string;
    /** Alternative names. */
    aliases: string[];
    /** Topic of the metric. */
    group: string;
    /** What the metric measures. */
    description: string;
    /** Unit of the values; empty if unknown. */
    unit: string;
    /** Labels of the metric's series. */
    labels: string[];
    /** Parameters it accepts in addition to `organization_id`, `time_window`, `end` and `step`. */
    filters: string[];
  }[];
}

/** A trace query. A trace matches if at least one of its spans matches `trace` and all filters. */
export interface TracesQuery {
  /** Which traces: `all_traces`, `inference_traces`, `agent_traces`, `distiller_traces`, `error_traces`, `slow_traces`, or a name that the server's configuration adds. */
  trace: string;
  /** The key's own organization, which is the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project if it is bound to one, otherwise all projects. */
  project_name?: string | null;
  /** Return the trace with this ID (32 hexadecimal digits), regardless of `trace`, of all filters and of its age, unless a time range is set too. */
  trace_id?: string | null;
  /** Only spans of this service. */
  service_name?: string | null;
  /** Only spans with this operation (`gen_ai.operation.name`), such as `chat` or `execute_tool`. */
  operation?: string | null;
  /** Only spans of this model: the requested one or the one that answered. */
  model?: string | null;
  /** Only spans with this status. */
  status?: "unset" | "ok" | "error" | null;
  /** Only spans that took at least this long, in milliseconds. */
  min_duration_ms?: number | null;
  /** Only spans that took at most this long, in milliseconds. */
  max_duration_ms?: number | null;
  /** Only spans that have each of these attributes, or whose resource has it, with exactly this value. Values are compared as text: `200` and `"200"` match the integer 200. Values longer than a kilobyte are not found. */
  attributes?: Record<string, string | number | boolean> | null;
  /** Only spans of this conversation (`gen_ai.conversation.id`, `session.id`). A call through Sounding names it in `metadata.session_id` or the header `x-session-id`. */
  conversation_id?: string | null;
  /** Only spans of this end user (`user.id`, `enduser.id`). A call through Sounding names the user in `user`, `safety_identifier` or the header `x-user-id`. */
  user_id?: string | null;
  /** Only calls through Sounding with this API key. */
  key_id?: string | null;
  /** Only spans that contain this text, in upper or lower case, in their name, status message, attributes or attributes of events, recorded prompts and answers included unless the server encrypts them. */
  search?: string | null;
  /** How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "1h". */
  time_window?: string | null;
  /** Only spans that started at this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Not together with `time_window`. */
  start?: string | null;
  /** Only spans that started before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now. */
  end?: string | null;
  /** Whether to return each trace's spans. Default true. */
  detail?: boolean | null;
  /** Maximum number of traces, 1 to 1000; the newest are returned. Default 100. */
  limit?: number | null;
  /** Requests the traces page by page: "" for the first page, then `next_cursor` of the previous response together with the same filters. */
  cursor?: string | null;
}

/** Traces in Tempo's response format. */
export interface TracesAnswer {
  /** The traces, newest first. */
  traces: {
    /** Trace ID, 32 hexadecimal digits. */
    traceID: string;
    /** Service of the root span, or of the earliest span if the root is unknown. */
    rootServiceName: string;
    /** Name of the root span, or of the earliest span if the root is unknown. */
    rootTraceName: string;
    /** Start of the earliest span, UNIX time in nanoseconds. */
    startTimeUnixNano: string;
    /** Time from the earliest start to the latest end, in milliseconds. */
    durationMs: number;
    /** What the trace consists of. Not part of Tempo's format. */
    summary: {
      /** Number of spans. */
      spanCount: number;
      /** Number of spans whose status is an error. */
      errorCount: number;
      /** Status of the root span, or of the earliest span if the root is unknown. */
      status: "unset" | "ok" | "error";
      /** Time from the earliest start to the latest end in nanoseconds: `durationMs` without rounding. */
      durationNanos: string;
      /** The models that the trace called, in alphabetical order. */
      models: {
        /** Model ID, as requested. */
        model: string;
        /** Number of calls. */
        calls: number;
        /** Tokens that the model read. */
        inputTokens: number;
        /** Tokens that the model generated. */
        outputTokens: number;
        /** Of the input tokens, those read from a cache of prompts. */
        cacheReadTokens: number;
        /** Of the input tokens, those written to a cache of prompts. */
        cacheWriteTokens: number;
      }[];
      /** Cost of the calls, in the currency of the prices (`telemetry.currency`), without those of models without a price; null if no call has a known cost. */
      cost: number | null;
      /** Only if the request has a `cursor`: the projects of the spans, in alphabetical order. */
      projects?: string[];
      /** Only if the request has a `cursor`: the services of the spans, in alphabetical order; at most 20. */
      services?: string[];
    };
    /** The spans, by resource; absent with `detail: false`. */
    batches?: {
      /** The resource that produced the spans: a service and where it runs. */
      resource: {
        /** Attributes in OpenTelemetry's JSON encoding: `key` and `value`. */
        attributes?: Record<string, unknown>[];
      };
      /** The spans, by instrumentation scope. */
      scopeSpans: {
        /** The instrumentation scope of the spans. */
        scope: Record<string, unknown>;
        /** The spans, earliest first, in Tempo's JSON encoding: IDs in base64, enumerations by name, 64-bit numbers as strings; zero and empty values are omitted. */
        spans: Record<string, unknown>[];
      }[];
    }[];
  }[];
  /** Only if the request has a `cursor`: the cursor of the next page; null if this is the last page. */
  next_cursor?: string | null;
  /** Only if the search did not look into everything: recorded content that the server encrypts. */
  warnings?: string[] | null;
}

/** Which log entries to count. An entry must match all filters. */
export interface LogHistogramQuery {
  /** The key's own organization, which is the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project if it is bound to one, otherwise all projects. */
  project_name?: string | null;
  /** Only entries with exactly this level. */
  severity?: "debug" | "info" | "warning" | "error" | null;
  /** Only entries with one of these levels. */
  severities?: ("debug" | "info" | "warning" | "error")[] | null;
  /** Only entries with this level or a higher one. */
  min_severity?: "debug" | "info" | "warning" | "error" | null;
  /** Only entries whose message contains this text, in upper or lower case. If the message is a map or a list, one of its keys or values must contain the text. */
  search?: string | null;
  /** Only entries of this service. */
  service_name?: string | null;
  /** Only entries of the trace with this ID (32 hexadecimal digits). */
  trace_id?: string | null;
  /** Only entries of the span with this ID (16 hexadecimal digits). */
  span_id?: string | null;
  /** Only entries that have each of these attributes, or whose resource has it, with exactly this value. Values are compared as text: `200` and `"200"` match the integer 200. */
  attributes?: Record<string, string | number | boolean> | null;
  /** No entries with one of these levels. */
  exclude_severities?: ("debug" | "info" | "warning" | "error")[] | null;
  /** No entries of these services, at most 16. */
  exclude_services?: string[] | null;
  /** No entries of these projects, at most 16. */
  exclude_projects?: string[] | null;
  /** No entries that have one of these attributes, or whose resource has it, with exactly one of the values in its list. Entries without the attribute remain. Values are compared as text. */
  exclude_attributes?: Record<string, (string | number | boolean)[]> | null;
  /** How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "24h". */
  time_window?: string | null;
  /** Only entries at this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Not together with `time_window`. */
  start?: string | null;
  /** Only entries before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now. */
  end?: string | null;
  /** Width of a bucket: an integer of at least 1, followed by `s` (seconds), `m`, `h` or `d`; at most 1000 buckets. By default, the server chooses a width that gives about 60 to 120 buckets. */
  step?: string | null;
}

/** Numbers of log entries by time and level. */
export interface LogHistogram {
  /** Width of a bucket in seconds. */
  step_seconds: number;
  /** Number of entries that match. */
  total: number;
  /** The buckets of the time range, earliest first, those without entries included. */
  buckets: {
    /** When the bucket begins, an RFC 3339 time; a multiple of the width. */
    start: string;
    /** Number of entries with the level `debug`. */
    debug: number;
    /** Number of entries with the level `info`. */
    info: number;
    /** Number of entries with the level `warning`. */
    warning: number;
    /** Number of entries with the level `error`. */
    error: number;
  }[];
}

/** Which traces to count. A trace matches if at least one of its spans matches `trace` and all filters. */
export interface TraceHistogramQuery {
  /** Which traces, by the same names as in queries of traces. Default: `all_traces`. */
  trace?: string | null;
  /** The key's own organization, which is the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project if it is bound to one, otherwise all projects. */
  project_name?: string | null;
  /** Only spans of this service. */
  service_name?: string | null;
  /** Only spans with this operation (`gen_ai.operation.name`), such as `chat` or `execute_tool`. */
  operation?: string | null;
  /** Only spans of this model: the requested one or the one that answered. */
  model?: string | null;
  /** Only spans with this status. */
  status?: "unset" | "ok" | "error" | null;
  /** Only spans that took at least this long, in milliseconds. */
  min_duration_ms?: number | null;
  /** Only spans that took at most this long, in milliseconds. */
  max_duration_ms?: number | null;
  /** Only spans that have each of these attributes, or whose resource has it, with exactly this value. Values are compared as text: `200` and `"200"` match the integer 200. Values longer than a kilobyte are not found. */
  attributes?: Record<string, string | number | boolean> | null;
  /** Only spans of this conversation (`gen_ai.conversation.id`, `session.id`). A call through Sounding names it in `metadata.session_id` or the header `x-session-id`. */
  conversation_id?: string | null;
  /** Only spans of this end user (`user.id`, `enduser.id`). A call through Sounding names the user in `user`, `safety_identifier` or the header `x-user-id`. */
  user_id?: string | null;
  /** Only calls through Sounding with this API key. */
  key_id?: string | null;
  /** Only spans that contain this text, in upper or lower case, in their name, status message, attributes or attributes of events, recorded prompts and answers included unless the server encrypts them. */
  search?: string | null;
  /** How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "1h". */
  time_window?: string | null;
  /** Only spans that started at this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Not together with `time_window`. */
  start?: string | null;
  /** Only spans that started before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now. */
  end?: string | null;
  /** Width of a bucket: an integer of at least 1, followed by `s` (seconds), `m`, `h` or `d`; at most 1000 buckets. By default, the server chooses a width that gives about 60 to 120 buckets. */
  step?: string | null;
}

/** Traces over time. */
export interface TraceHistogram {
  /** Width of a bucket in seconds. */
  step_seconds: number;
  /** The buckets of the time range, earliest first, those without traces included. */
  buckets: {
    /** When the bucket begins, an RFC 3339 time; a multiple of the width. */
    start: string;
    /** Number of traces that started in the bucket. */
    traces: number;
    /** Number of these whose root span has the status `error`. */
    failed: number;
    /** Durations of the traces in milliseconds. */
    duration_ms: {
      /** The median; null without traces. */
      p50: number | null;
      /** The 95th percentile; null without traces. */
      p95: number | null;
    };
  }[];
}

/** A query of conversations. */
export interface ConversationsQuery {
  /** The key's own organization, which is the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project if it is bound to one, otherwise all projects. */
  project_name?: string | null;
  /** Only this conversation. */
  conversation_id?: string | null;
  /** Only conversations with a span of this service. */
  service_name?: string | null;
  /** Only conversations whose ID contains this text, in upper or lower case. */
  search?: string | null;
  /** How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "24h". */
  time_window?: string | null;
  /** Only spans that started at this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Not together with `time_window`. */
  start?: string | null;
  /** Only spans that started before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now. */
  end?: string | null;
  /** Maximum number of conversations, 1 to 200; the most recent are returned. Default 50. */
  limit?: number | null;
  /** Requests the next page: `next_cursor` of the previous response together with the same filters. "" and null mean the first page. */
  cursor?: string | null;
}

/** Conversations. */
export interface Conversations {
  /** The conversations, the most recent first. */
  data: {
    /** The conversation's ID. */
    id: string;
    /** Start of the earliest span, an RFC 3339 time. */
    started_at: string;
    /** End of the latest span, an RFC 3339 time. */
    ended_at: string;
    /** Number of traces. */
    turns: number;
    /** Number of model calls. */
    calls: number;
    /** Number of spans whose status is an error. */
    errors: number;
    /** Tokens that models read. */
    input_tokens: number;
    /** Tokens that models generated. */
    output_tokens: number;
    /** Of the input tokens, those read from caches of prompts. */
    cache_read_tokens: number;
    /** Of the input tokens, those written to caches of prompts. */
    cache_write_tokens: number;
    /** Cost of the calls, in the currency of the prices (`telemetry.currency`), without those of models without a price; null if no call has a known cost. */
    cost: number | null;
    /** The models that the conversation called, in alphabetical order. */
    models: {
      /** Model ID, as requested. */
      model: string;
      /** Number of calls. */
      calls: number;
      /** Tokens that the model read. */
      input_tokens: number;
      /** Tokens that the model generated. */
      output_tokens: number;
      /** Of the input tokens, those read from a cache. */
      cache_read_tokens: number;
      /** Of the input tokens, those written to a cache. */
      cache_write_tokens: number;
    }[];
    /** Projects of the spans, in alphabetical order. */
    projects: string[];
    /** Services of the spans, in alphabetical order; at most 20. */
    services: string[];
  }[];
  /** The cursor of the next page; null if this is the last page. */
  next_cursor: string | null;
}

/** Which calls to add up, and by what. */
export interface SpendQuery {
  /** What to group by, separated by commas, at most four: `day`, `model`, `engine`, `organization`, `project`, `key`, `user` and `tag:NAME`, the value of that name in the `metadata` or the header `x-tags` of requests. Default: one group. */
  by?: string | null;
  /** The key's own organization, which is the default; any other is refused. */
  organization_id?: string | null;
  /** Only telemetry of this project. Default: the key's project if it is bound to one, otherwise all projects. */
  project_name?: string | null;
  /** Only calls of this model ID; "" for calls that name none. */
  model?: string | null;
  /** Only calls through Sounding that this engine served; "" for others. */
  engine?: string | null;
  /** Only calls with this API key; "" for calls that did not go through Sounding. */
  key_id?: string | null;
  /** Only calls for this end user; "" for calls that name none. */
  user_id?: string | null;
  /** Only calls with each of these tags, as a JSON object such as `{"team":"search"}`; the value "" finds calls without the name. */
  tags?: Record<string, string> | null;
  /** How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "30d". */
  time_window?: string | null;
  /** Only calls that ended after this time: a day such as `2026-11-01`, which begins in `time_zone`, an RFC 3339 time, or a UNIX time in nanoseconds. Not together with `time_window`. */
  start?: string | null;
  /** Only calls that ended at this time or earlier, in the same forms. Default: now. */
  end?: string | null;
  /** Where days begin and end: a name of the IANA database, such as `Europe/Berlin`. Default: `UTC`. */
  time_zone?: string | null;
  /** Maximum number of groups, 1 to 10000; those with the highest cost are returned. Default 1000. */
  limit?: number | null;
}

/** What calls cost. */
export interface Spend {
  /** Always `spend`. */
  object: "spend";
  /** Start of the range, an RFC 3339 time. Calls that ended at it do not count. */
  start: string;
  /** End of the range. Calls that ended at it count. */
  end: string;
  /** Where days begin and end. */
  time_zone: string;
  /** What the groups are by, in the order of the request. */
  by: string[];
  /** Sums of all groups, including those beyond `limit`: one for each currency. */
  totals: {
    /** Currency of `cost`, a code of ISO 4217. */
    currency: string;
    /** What the calls cost: a decimal, exact to a billionth, such as `0.05090025`. Calls without a price are not part of it. */
    cost: string;
    /** Calls, failed ones included. */
    calls: number;
    /** Of these, calls whose cost is unknown, because their model has no price. */
    unpriced_calls: number;
    /** Input tokens, cached ones included. */
    input_tokens: number;
    /** Output tokens, reasoning included. */
    output_tokens: number;
    /** Of the input tokens: read from a cache. */
    cache_read_tokens: number;
    /** Of the input tokens: written to a cache. */
    cache_write_tokens: number;
  }[];
  /** The groups: by day first, then by cost, the highest first. */
  data: {
    /** The values that the calls share, by the names in `by`; null if they have none. A `day` is a date, a `key` its ID. */
    group: Record<string, string | null>;
    /** Name of the key. Only in groups by `key`. */
    key_name?: string | null;
    /** Name of the organization. Only in groups by `organization`. */
    organization_name?: string | null;
    /** Currency of `cost`, a code of ISO 4217. */
    currency: string;
    /** What the calls cost: a decimal, exact to a billionth, such as `0.05090025`. Calls without a price are not part of it. */
    cost: string;
    /** Calls, failed ones included. */
    calls: number;
    /** Of these, calls whose cost is unknown, because their model has no price. */
    unpriced_calls: number;
    /** Input tokens, cached ones included. */
    input_tokens: number;
    /** Output tokens, reasoning included. */
    output_tokens: number;
    /** Of the input tokens: read from a cache. */
    cache_read_tokens: number;
    /** Of the input tokens: written to a cache. */
    cache_write_tokens: number;
  }[];
  /** Whether there are more groups than `limit`. */
  truncated: boolean;
}

/** A budget, and what is used of it in the current period. */
export interface Budget {
  /** Always `budget`. */
  object: "budget";
  /** Identifier of the budget. */
  id: string;
  /** Identifier of the organization. */
  organization_id: string;
  /** Name of the budget, unique in the organization: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. Errors and notifications have it. */
  name: string;
  /** How much may be spent in a period, in the currency's unit. Fractions smaller than a billionth are rounded. */
  amount: number;
  /** Whether calls that do not fit into the budget are refused with 429. False: the budget only reports its thresholds. */
  enforced: boolean;
  /** Percentages of the amount. When one is reached, it is reported once in the period. */
  thresholds: number[];
  /** What an enforced budget does with calls of models without a known price, whose cost it cannot count. Models of engines on the server's own machine that have no price count as free. */
  unpriced: "refuse" | "allow";
  /** Currency of the amount: its code in ISO 4217. It must be that of the server's prices, `telemetry.currency`. */
  currency: string;
  /** What the budget is for: calls of the whole organization, or of one or each project, API key, end user, model or tag. */
  subject: "organization" | "project" | "key" | "user" | "model" | "tag";
  /** The one project (its name), key (its identifier), end user, model (ID or alias) or value of the tag. Null: each one has the whole amount. Always null for an organization. */
  value: string | null;
  /** Name of the tag: a member of the `metadata` of requests, or a name in their header `x-tags`. Null unless `subject` is `tag`. */
  tag: string | null;
  /** Period of the calendar after which the budget starts again; weeks start on Monday. `total`: never. */
  period: "day" | "week" | "month" | "total";
  /** Time zone in which periods begin: an IANA name such as `Europe/Berlin`. */
  time_zone: string;
  /** Start of the current period, UNIX seconds; null if it has none. */
  period_starts_at: number | null;
  /** When the budget starts again, UNIX seconds; null if it does not. */
  resets_at: number | null;
  /** Whether an operator key created the budget. Only operator keys can change or delete it then. */
  operator: boolean;
  /** Cost of the calls that have ended, as far as servers have written it: they do so every 2 seconds. */
  used: number;
  /** What calls that are running may cost at most. */
  reserved: number;
  /** What is left; null if each value has its own. */
  remaining: number | null;
  /** The 100 values that have used the most; only of one budget for each value. */
  values?: {
    /** The project, key, end user, model or value of the tag. */
    value: string;
    /** Cost of the calls that have ended, as far as servers have written it: they do so every 2 seconds. */
    used: number;
    /** What calls that are running may cost at most. */
    reserved: number;
    /** What is left; null if each value has its own. */
    remaining: number | null;
  }[];
  /** Creation, UNIX seconds. */
  created_at: number;
  /** Last change, UNIX seconds. */
  updated_at: number;
}

/** A new budget. Absent members: enforced, no thresholds, unpriced calls are refused, the server's currency, the whole organization, per month, UTC. */
export interface BudgetCreate {
  /** Identifier or name of the organization. Absent: the caller's own. */
  organization_id?: string;
  /** Name of the budget, unique in the organization: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. Errors and notifications have it. */
  name: string;
  /** How much may be spent in a period, in the currency's unit. Fractions smaller than a billionth are rounded. */
  amount: number;
  /** Whether calls that do not fit into the budget are refused with 429. False: the budget only reports its thresholds. */
  enforced?: boolean;
  /** Percentages of the amount. When one is reached, it is reported once in the period. */
  thresholds?: number[];
  /** What an enforced budget does with calls of models without a known price, whose cost it cannot count. Models of engines on the server's own machine that have no price count as free. */
  unpriced?: "refuse" | "allow";
  /** Currency of the amount: its code in ISO 4217. It must be that of the server's prices, `telemetry.currency`. */
  currency?: string;
  /** What the budget is for: calls of the whole organization, or of one or each project, API key, end user, model or tag. */
  subject?: "organization" | "project" | "key" | "user" | "model" | "tag";
  /** The one project (its name), key (its identifier), end user, model (ID or alias) or value of the tag. Null: each one has the whole amount. Always null for an organization. */
  value?: string | null;
  /** Name of the tag: a member of the `metadata` of requests, or a name in their header `x-tags`. Null unless `subject` is `tag`. */
  tag?: string | null;
  /** Period of the calendar after which the budget starts again; weeks start on Monday. `total`: never. */
  period?: "day" | "week" | "month" | "total";
  /** Time zone in which periods begin: an IANA name such as `Europe/Berlin`. */
  time_zone?: string;
}

/** Changes to a budget. What it counts does not change: create another budget for that. */
export interface BudgetUpdate {
  /** Name of the budget, unique in the organization: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. Errors and notifications have it. */
  name?: string;
  /** How much may be spent in a period, in the currency's unit. Fractions smaller than a billionth are rounded. */
  amount?: number;
  /** Whether calls that do not fit into the budget are refused with 429. False: the budget only reports its thresholds. */
  enforced?: boolean;
  /** Percentages of the amount. When one is reached, it is reported once in the period. */
  thresholds?: number[];
  /** What an enforced budget does with calls of models without a known price, whose cost it cannot count. Models of engines on the server's own machine that have no price count as free. */
  unpriced?: "refuse" | "allow";
}

/** A page of budgets. */
export interface BudgetPage {
  /** Always `list`. */
  object: "list";
  /** The budgets, oldest first unless `order` is `desc`. */
  data: Budget[];
  /** Whether there are more pages. */
  has_more: boolean;
  /** Identifier of the last item; send it as `after` to get the next page. */
  last_id: string | null;
}
