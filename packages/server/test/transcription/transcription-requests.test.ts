/** Which form fields the transcription operation accepts, in every spelling, and which it refuses. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { sine } from "../audio/signals.ts";
import { chunk, formatChunk, riff } from "../audio/wav-files.ts";
import { scriptedTranscription, transcriptionEngine } from "../support/scripted-transcription.ts";
import { formOf, startTestTranscription, toneFile } from "../support/test-transcription.ts";

const model = scriptedTranscription();
const wordless = scriptedTranscription({ givesWords: false });
const server = await startTestTranscription({
  engines: [transcriptionEngine("scripted", model), transcriptionEngine("wordless", wordless)],
  maxFileBytes: 2_000_000,
  ffmpeg: "no-such-ffmpeg",
  maxAudioSeconds: 20,
});
after(() => server[Symbol.asyncDispose]());

const file = toneFile(0.5);
type Parts = [string, string | Blob][];

interface ErrorBody {
  readonly error: {
    readonly type: string;
    readonly param: string | null;
    readonly message: string;
    readonly code: string | null;
  };
}

async function refusalOf(parts: Parts): Promise<{ status: number } & ErrorBody["error"]> {
  const response = await server.post(formOf(parts));
  const { error } = (await response.json()) as ErrorBody;
  return { status: response.status, ...error };
}

describe("a bad field", () => {
  const refused: [parts: Parts, param: string, message?: RegExp | undefined][] = [
    [[["file", file]], "model", /model is missing/],
    [
      [
        ["model", ""],
        ["file", file],
      ],
      "model",
    ],
    [[["model", "scripted"]], "file", /file is missing/],
    [
      [
        ["model", "scripted"],
        ["file", file],
        ["file", file],
      ],
      "file",
      /more than one file/,
    ],
    [
      [
        ["model", "scripted"],
        ["model", "other"],
        ["file", file],
      ],
      "model",
      /appears twice/,
    ],
    ...[
      ["response_format", "text", /"json", "verbose_json"/],
      ["response_format", "srt"],
      ["response_format", "JSON"],
      ["language", "english!"],
      ["language", "automatic"],
      ["language", "e"],
      ["language", "en-US-x-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
      ["stream", "yes"],
      ["stream", "2"],
      ["timeout", "0"],
      ["timeout", "-1"],
      ["timeout", "NaN"],
      ["timeout", "soon"],
      ["timeout", "1e9"],
      ["temperature", "1.1"],
      ["temperature", "warm"],
      ["chunking_strategy", "always", /"auto"/],
      ["chunking_strategy", '"auto'],
      ["chunking_strategy", "[]"],
      ["chunking_strategy", "{}", /"server_vad"/],
      ["chunking_strategy", '{"type": "client_vad"}', /"server_vad"/],
      ["extra_body", "{broken"],
      ["extra_body", "[1]"],
      ["extra_body", "5"],
    ].map(([name, value, message]): [Parts, string, RegExp | undefined] => [
      [
        ["model", "scripted"],
        ["file", file],
        [name as string, value as string],
      ],
      name as string,
      message as RegExp | undefined,
    ]),
    ...[
      ['{"type": "server_vad", "prefix_padding_ms": -1}', "prefix_padding_ms"],
      ['{"type": "server_vad", "prefix_padding_ms": 5001}', "prefix_padding_ms", /5000/],
      ['{"type": "server_vad", "silence_duration_ms": 5001}', "silence_duration_ms"],
      ['{"type": "server_vad", "silence_duration_ms": 1.5}', "silence_duration_ms"],
      ['{"type": "server_vad", "silence_duration_ms": "long"}', "silence_duration_ms"],
      ['{"type": "server_vad", "threshold": 1.1}', "threshold"],
      ['{"type": "server_vad", "threshold": -0.1}', "threshold"],
    ].map(([value, member, message]): [Parts, string, RegExp | undefined] => [
      [
        ["model", "scripted"],
        ["file", file],
        ["chunking_strategy", value as string],
      ],
      `chunking_strategy.${member as string}`,
      message as RegExp | undefined,
    ]),
    [
      [
        ["model", "scripted"],
        ["chunking_strategy[type]", "server_vad"],
        ["chunking_strategy[threshold]", "2"],
        ["file", file],
      ],
      "chunking_strategy.threshold",
    ],
    [
      [
        ["model", "scripted"],
        ["file", file],
        ["timestamp_granularities[]", "word"],
      ],
      "timestamp_granularities",
      /expected response_format "verbose_json"/,
    ],
    [
      [
        ["model", "scripted"],
        ["file", file],
        ["stream", "true"],
        ["timestamp_granularities", '["segment"]'],
        ["response_format", "json"],
      ],
      "timestamp_granularities",
    ],
    [
      [
        ["model", "scripted"],
        ["file", file],
        ["response_format", "verbose_json"],
        ["timestamp_granularities", '["letter"]'],
      ],
      "timestamp_granularities[0]",
      /"segment", "word"/,
    ],
    [
      [
        ["model", "scripted"],
        ["file", file],
        ["extra_body", '{"response_format": "vtt"}'],
      ],
      "response_format",
    ],
    [
      [
        ["model", "scripted"],
        ["file", file],
        ["extra_body", '{"timestamp_granularities": ["word"]}'],
      ],
      "timestamp_granularities",
    ],
  ];
  for (const [parts, param, message] of refused) {
    const shown = parts.map(([name, value]) => (typeof value === "string" ? `${name}=${value}` : name)).join(" ");
    test(`${shown} is a 400 that names ${param}`, async () => {
      const { status, type, ...error } = await refusalOf(parts);
      assert.deepEqual([status, type, error.param], [400, "invalid_request_error", param], error.message);
      if (message !== undefined) assert.match(error.message, message);
    });
  }

  test("an unknown model is a 404", async () => {
    const { status, code } = await refusalOf([
      ["model", "nothing"],
      ["file", file],
    ]);
    assert.deepEqual([status, code], [404, "model_not_found"]);
  });

  test("words of a model that returns none are refused by name", async () => {
    const words: Parts = [
      ["response_format", "verbose_json"],
      ["timestamp_granularities", '["word"]'],
    ];
    const { status, code, param } = await refusalOf([["model", "wordless"], ["file", file], ...words]);
    assert.deepEqual([status, code, param], [400, "unsupported_parameter", "timestamp_granularities"]);
  });

  test("a field of more than 1 MiB is a 413 that names it", async () => {
    const { status, param } = await refusalOf([
      ["prompt", "x".repeat(1_048_577)],
      ["model", "scripted"],
      ["file", file],
    ]);
    assert.deepEqual([status, param], [413, "prompt"]);
  });

  test("more than 200 fields are refused", async () => {
    const many = Array.from({ length: 201 }, (_, index): [string, string] => [`field${index}`, "x"]);
    assert.equal((await refusalOf([...many, ["file", file]])).status, 400);
  });
});

describe("every spelling", () => {
  interface Understood {
    readonly language?: string | undefined;
    readonly words?: boolean;
    readonly partials?: boolean;
    readonly chunking?: object | undefined;
    readonly temperature?: number | undefined;
    readonly prompt?: string | undefined;
  }
  const verbose: Parts = [["response_format", "verbose_json"]];
  const understood: [name: string, parts: Parts, expected: Understood][] = [
    ["nothing but what must be", [], { language: undefined, words: false, partials: false, chunking: undefined }],
    ["Python's True", [["stream", "True"]], { partials: true }],
    ["Python's False", [["stream", "False"]], { partials: false }],
    ["JSON's true", [["stream", "true"]], { partials: true }],
    ["1", [["stream", "1"]], { partials: true }],
    [
      "Python's None",
      [
        ["timeout", "None"],
        ["language", "None"],
        ["temperature", "None"],
      ],
      { language: undefined, temperature: undefined },
    ],
    [
      "a number with decimals",
      [
        ["timeout", "30.5"],
        ["temperature", "0.25"],
      ],
      { temperature: 0.25 },
    ],
    [
      "empty fields",
      [
        ["language", ""],
        ["prompt", ""],
        ["stream", ""],
        ["response_format", ""],
      ],
      { language: undefined, prompt: undefined },
    ],
    ["a language that is detected", [["language", "auto"]], { language: undefined }],
    ["auto", [["chunking_strategy", "auto"]], { chunking: undefined }],
    [
      "a strategy in JSON",
      [
        [
          "chunking_strategy",
          '{"type": "server_vad", "prefix_padding_ms": 5000, "silence_duration_ms": 0, "threshold": 1}',
        ],
      ],
      { chunking: { prefixPaddingMs: 5_000, silenceDurationMs: 0 } },
    ],
    [
      "a strategy in brackets",
      [
        ["chunking_strategy[type]", "server_vad"],
        ["chunking_strategy[prefix_padding_ms]", "300"],
        ["chunking_strategy[silence_duration_ms]", "200"],
      ],
      { chunking: { prefixPaddingMs: 300, silenceDurationMs: 200 } },
    ],
    [
      "a strategy of a type alone",
      [["chunking_strategy", '{"type": "server_vad"}']],
      { chunking: { prefixPaddingMs: 4_000, silenceDurationMs: 5_000 } },
    ],
    ["a list in JSON", [...verbose, ["timestamp_granularities", '["segment", "word"]']], { words: true }],
    ["an empty list in JSON", [["timestamp_granularities", "[]"]], { words: false }],
    [
      "a repeated name with brackets",
      [...verbose, ["timestamp_granularities[]", "segment"], ["timestamp_granularities[]", "word"]],
      { words: true },
    ],
    [
      "a repeated name without",
      [...verbose, ["timestamp_granularities", "segment"], ["timestamp_granularities", "word"]],
      { words: true },
    ],
    ["names with numbers", [...verbose, ["timestamp_granularities[0]", "word"]], { words: true }],
    ["one name", [...verbose, ["timestamp_granularities", "word"]], { words: true }],
    ["the AI Refinery SDK's include", [["include", '["confidence", "segment"]']], { words: false }],
    [
      "the same field twice with the same value",
      [
        ["language", "de"],
        ["language", "de"],
      ],
      { language: "de-DE" },
    ],
    ["languages without a region", [["language", "en"]], { language: "en-US" }],
    ["languages in other letters", [["language", "pt_br"]], { language: "pt-BR" }],
    ["languages with a script", [["language", "zh-Hans-CN"]], { language: "zh-CN" }],
    ["an empty extra_body", [["extra_body", "{}"]], { language: undefined }],
    ["no extra_body", [["extra_body", "None"]], { language: undefined }],
    [
      "extra_body, which overrides",
      [
        ["language", "de"],
        ["extra_body", '{"language": "fr-CA", "temperature": 0}'],
      ],
      { language: "fr-CA", temperature: 0 },
    ],
    [
      "extra_body in brackets",
      [
        ["language", "de"],
        ["extra_body[language]", "it"],
      ],
      { language: "it-IT" },
    ],
    [
      "strings in extra_body",
      [["extra_body", '{"stream": "True", "timestamp_granularities": "[]"}']],
      { partials: true },
    ],
    [
      "unknown fields",
      [
        ["temperatur", "9"],
        ["a[b][c][d][e]", "1"],
        ["[]", "x"],
        ["__proto__[x]", "1"],
        ["x]", "1"],
      ],
      { language: undefined },
    ],
  ];
  for (const [name, parts, expected] of understood) {
    for (const order of ["before", "after"] as const) {
      test(`${name}, ${order} the file`, async () => {
        const head: Parts =
          order === "before"
            ? [["model", "scripted"], ...parts, ["file", file]]
            : [["file", file], ...parts, ["model", "scripted"]];
        const response = await server.post(formOf(head));
        const text = await response.text();
        assert.equal(response.status, 200, text);
        const call = model.calls.at(-1)! as unknown as Record<string, unknown>;
        const seen = Object.fromEntries(Object.keys(expected).map((key) => [key, call[key]]));
        assert.deepEqual(seen, expected);
      });
    }
  }
});

describe("a recording", () => {
  const wav = (bytes: Uint8Array, name = "audio.wav", type = "audio/wav"): File =>
    new File([new Uint8Array(bytes)], name, { type });
  const tone = (rate: number): Uint8Array => encodeWav(sine(440, rate, 0.5), rate);
  const ask = async (blob: Blob) => {
    const response = await server.post(
      formOf([
        ["model", "scripted"],
        ["response_format", "verbose_json"],
        ["file", blob],
      ]),
    );
    return {
      status: response.status,
      ...((await response.json()) as Partial<ErrorBody> & { duration?: number; text?: string }),
    };
  };

  const heard: [name: string, blob: Blob, seconds: number][] = [
    ["of one sample", wav(encodeWav(new Float32Array(1), 16_000)), 0],
    ["of no sample", wav(encodeWav(new Float32Array(0), 16_000)), 0],
    ["at 384 kHz", wav(tone(384_000)), 0.5],
    ["at 8 kHz", wav(tone(8_000)), 0.5],
    [
      "of 16 channels",
      wav(riff([formatChunk({ tag: 1, bits: 16, channels: 16 }), chunk("data", Buffer.alloc(16 * 2 * 8_000, 1))])),
      0.5,
    ],
    ["cut off in its samples", wav(tone(16_000).subarray(0, 8_044)), 0.25],
    [
      "of a stream, without sizes",
      wav(
        riff([formatChunk({ tag: 1, bits: 16 }), chunk("data", Buffer.alloc(16_000), 0xffffffff)], {
          size: 0xffffffff,
        }),
      ),
      0.5,
    ],
    [
      "of A-law",
      wav(riff([formatChunk({ tag: 6, bits: 8, sampleRate: 8_000 }), chunk("data", Buffer.alloc(4_000, 0xd5))])),
      0.5,
    ],
    ["of raw samples, by its type", wav(tone(16_000).subarray(44), "audio", "audio/pcm"), 0.5],
    ["of raw samples, by its name", wav(tone(16_000).subarray(44), "audio.pcm", "application/octet-stream"), 0.5],
    [
      "of raw samples at the rate of its type",
      wav(tone(8_000).subarray(44), "audio", "audio/L16; rate=8000; channels=1"),
      0.5,
    ],
  ];
  for (const [name, blob, seconds] of heard) {
    test(`${name} is ${seconds} s long`, async () => {
      const { status, duration, error } = await ask(blob);
      assert.deepEqual([status, duration], [200, seconds], error?.message);
    });
  }

  const refused: [name: string, blob: Blob, status: number, message: RegExp][] = [
    ["that is empty", wav(new Uint8Array(0)), 400, /empty/],
    [
      "that is text",
      wav(Buffer.from("This is no recording at all, whatever it is called.")),
      400,
      /match no supported format/,
    ],
    [
      "that is a text after a WAV's head",
      wav(Buffer.from("RIFF\0\0\0\0WAVEThis is no recording at all")),
      400,
      /damaged/,
    ],
    ["cut off in its head", wav(tone(16_000).subarray(0, 30)), 400, /damaged/],
    ["of ADPCM", wav(riff([formatChunk({ tag: 0x11, bits: 4 }), chunk("data", Buffer.alloc(100))])), 415, /IMA ADPCM/],
    ["of AAC", wav(Buffer.from("\xff\xf1PA and so on", "latin1")), 415, /Send WAV, MP3, FLAC/],
    [
      "at a million hertz",
      wav(riff([formatChunk({ tag: 1, bits: 16, sampleRate: 1_000_000 }), chunk("data", Buffer.alloc(100))])),
      400,
      /1000000 Hz/,
    ],
    ["of raw samples at no rate", wav(new Uint8Array(100), "a", "audio/pcm; rate=0"), 400, /rate is 0 Hz/],
    ["longer than allowed", wav(encodeWav(new Float32Array(8_000 * 20 + 1), 8_000)), 413, /longer than 20 seconds/],
    ["larger than allowed", wav(new Uint8Array(2_000_001)), 413, /2000000 bytes/],
  ];
  for (const [name, blob, status, message] of refused) {
    test(`${name} is a ${status}`, async () => {
      const answer = await ask(blob);
      assert.deepEqual(
        [answer.status, answer.error?.param, answer.error?.type],
        [status, "file", "invalid_request_error"],
      );
      assert.match(answer.error!.message, message);
    });
  }
});

describe("a body", () => {
  const send = (body: string | Buffer, type: string | undefined, more: Record<string, string> = {}) =>
    fetch(`${server.url}/v1/audio/transcriptions`, {
      method: "POST",
      body: typeof body === "string" ? body : new Uint8Array(body),
      headers: { ...server.headers, ...(type === undefined ? {} : { "content-type": type }), ...more },
    });
  const part = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nscripted\r\n';

  const refused: [name: string, body: string, type: string, status: number][] = [
    ["of JSON", "{}", "application/json", 415],
    ["of another multipart type", part, "multipart/mixed; boundary=b", 415],
    ["without a boundary", part, "multipart/form-data", 400],
    ["with an empty boundary", part, 'multipart/form-data; boundary=""', 400],
    ["with another boundary", part, "multipart/form-data; boundary=c", 400],
    ["that is empty", "", "multipart/form-data; boundary=b", 400],
    ["that ends in a part", part, "multipart/form-data; boundary=b", 400],
    [
      "whose part has no name",
      "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--",
      "multipart/form-data; boundary=b",
      400,
    ],
    ["whose part has no head", "--b\r\n\r\nx\r\n--b--", "multipart/form-data; boundary=b", 400],
    ["with something behind a boundary", `${part}--bx\r\n--b--`, "multipart/form-data; boundary=b", 400],
    ["with a long head", `--b\r\nX: ${"x".repeat(20_000)}\r\n\r\n--b--`, "multipart/form-data; boundary=b", 400],
  ];
  for (const [name, body, type, status] of refused) {
    test(`${name} is a ${status}`, async () => {
      const response = await send(body, type);
      assert.equal(response.status, status, await response.text());
    });
  }

  test("that is compressed is a 415", async () => {
    const response = await send(part, "multipart/form-data; boundary=b", { "content-encoding": "gzip" });
    assert.equal(response.status, 415);
  });

  test("may quote its boundary and have text around its parts", async () => {
    const file = Buffer.from(encodeWav(sine(440, 16_000, 0.1), 16_000));
    const body = Buffer.concat([
      Buffer.from(
        `before\r\n${part}--b  \r\ncontent-disposition: FORM-DATA; name=file; filename="C:\\\\a;b\\".wav"\r\n\r\n`,
      ),
      file,
      Buffer.from("\r\n--b--\r\nafter"),
    ]);
    const response = await send(body, 'multipart/form-data; charset=utf-8; boundary="b"');
    assert.equal(response.status, 200, await response.text());
  });

  test("needs a key", async () => {
    assert.equal((await send(part, "multipart/form-data; boundary=b", { authorization: "Bearer sk-x" })).status, 401);
  });
});
