/** Hostile inputs that are too large for files, generated when needed. */
import { gzipSync } from "node:zlib";
import { flacFile } from "../../packages/server/test/audio/flac-file.ts";
import { writeMessage } from "./http-message.ts";
import type { Regression } from "./regressions.ts";

const json = [
  ["authorization", "Bearer {key}"],
  ["content-type", "application/json"],
] as const;
const post = (path: string, body: string): Buffer =>
  writeMessage({ method: "POST", path, headers: json, body: Buffer.from(body) });
const members = (count: number): string => Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",");

/** Ten alternatives at each of twelve levels. */
function anyOfSchema(): object {
  const levels = Object.fromEntries(
    Array.from({ length: 12 }, (_, level) => [
      `l${level}`,
      {
        anyOf: Array.from({ length: 10 }, (_, way) => ({
          type: "object",
          properties: { [`w${way}`]: level === 11 ? { type: "string" } : { $ref: `#/$defs/l${level + 1}` } },
          required: [`w${way}`],
          additionalProperties: false,
        })),
      },
    ]),
  );
  return { $ref: "#/$defs/l0", $defs: levels };
}

function labelReplaceQuery(): string {
  const pattern = "(a{1000})".repeat(10);
  return `label_replace(vector(1), "l", "$1", "x", "${Array(100).fill(pattern).join("|")}")`;
}

function upload(bytes: Uint8Array, name: string): Buffer {
  const headers = [
    ["authorization", "Bearer {key}"],
    ["content-type", "multipart/form-data; boundary=b"],
  ] as const;
  const head = `--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nscripted-transcription\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  return writeMessage({
    method: "POST",
    path: "/v1/audio/transcriptions",
    headers,
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n--b--\r\n")]),
  });
}

/** 500 frames of 65 535 equal samples: 35 minutes of sound. */
const flacBomb = (): Buffer => flacFile(500, undefined);

const made: readonly [target: string, name: string, outcome: string | undefined, read: () => Uint8Array][] = [
  [
    "operations",
    "prompt of 15 MB",
    undefined,
    () =>
      post(
        "/v1/chat/completions",
        JSON.stringify({
          model: "sounding-trial",
          max_tokens: 1,
          messages: [{ role: "user", content: "hello ".repeat(2_500_000) }],
        }),
      ),
  ],
  [
    "operations",
    "messages that are numbers, 15 MB",
    "413",
    () => post("/v1/chat/completions", `{"model":"sounding-trial","messages":[${"1,".repeat(7_500_000)}1]}`),
  ],
  [
    "operations",
    "a million members of extra_body",
    "413",
    () =>
      post(
        "/v1/chat/completions",
        `{"model":"sounding-trial","max_tokens":1,"messages":[{"role":"user","content":"x"}],"extra_body":{${members(1_000_000)}}}`,
      ),
  ],
  [
    "operations",
    "a million members of a log query",
    "413",
    () => post("/observability/logs", `{${members(1_000_000)}}`),
  ],
  [
    "operations",
    "project name of 9 MB",
    "413",
    () => post("/observability/logs", JSON.stringify({ project_name: "x".repeat(9_000_000) })),
  ],
  [
    "chat-schemas",
    "ten ways at twelve levels",
    undefined,
    () =>
      post(
        "/v1/chat/completions",
        JSON.stringify({
          model: "sounding-trial",
          max_tokens: 4,
          messages: [{ role: "user", content: "x" }],
          response_format: { type: "json_schema", json_schema: { name: "s", strict: true, schema: anyOfSchema() } },
        }),
      ),
  ],
  [
    "prometheus",
    "label_replace with a large expression",
    undefined,
    () => writeForm(`query=${encodeURIComponent(labelReplaceQuery())}`),
  ],
  ["prometheus", "parentheses of 15 MB", undefined, () => writeForm(`query=${"(".repeat(15_000_000)}`)],
  [
    "prometheus",
    "subquery of a year by seconds",
    undefined,
    () => writeForm(`query=${encodeURIComponent("last_over_time(vector(1)[1y:1s])")}`),
  ],
  [
    "prometheus",
    "subquery of a year as the result",
    undefined,
    () => writeForm(`query=${encodeURIComponent("vector(1)[1y:1s]")}`),
  ],
  [
    "prometheus",
    "2,000 selectors",
    undefined,
    () =>
      writeMessage({
        method: "POST",
        path: "/prometheus/api/v1/series",
        headers: form,
        body: Buffer.from(Array.from({ length: 2000 }, (_, index) => `match[]=m${index}`).join("&")),
      }),
  ],
  [
    "otlp-http",
    "60 MB of zeros in 61 kB of gzip",
    undefined,
    () =>
      writeMessage({
        method: "POST",
        path: "/v1/logs",
        headers: [...json.slice(0, 1), ["content-type", "application/x-protobuf"], ["content-encoding", "gzip"]],
        body: gzipSync(Buffer.alloc(62_914_560)),
      }),
  ],
  ["audio-uploads", "FLAC that expands to half an hour", undefined, () => upload(flacBomb(), "bomb.flac")],
  [
    "audio",
    "FLAC that expands to half an hour",
    undefined,
    () => Buffer.concat([Buffer.from("bomb.flac\n"), flacBomb()]),
  ],
];

const form = [
  ["authorization", "Bearer {key}"],
  ["content-type", "application/x-www-form-urlencoded"],
] as const;
function writeForm(body: string): Buffer {
  return writeMessage({ method: "POST", path: "/prometheus/api/v1/query", headers: form, body: Buffer.from(body) });
}

export const generatedRegressions: readonly Regression[] = made.map(([target, name, outcome, read]) => ({
  target,
  name,
  outcome,
  read,
}));
