/** What the compiler reports for a mistake in a call: one error, which names the mistake. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript-api";

const question = `model: "m", messages: [{ role: "user", content: "x" }]`;
const speech = `model: "m", voice: "v", input: "x"`;

const cases: readonly (readonly [call: string, says: RegExp])[] = [
  [`chat.completions.create({ ${question}, temprature: 1 })`, /'temprature'.*'ChatCompletionParams.*'temperature'\?$/],
  [`chat.completions.create({ ${question}, stream: true, max_token: 1 })`, /'max_token'.*'max_tokens'\?$/],
  [`chat.completions.create({ ${question}, temperature: "hot" })`, /'string' is not assignable to type 'number'/],
  [`chat.completions.create({ model: "m" })`, /Property 'messages' is missing/],
  [
    `chat.completions.create({ model: "m", messages: [{ role: "user", contnt: "x" }] })`,
    /'contnt'.*'ChatMessage'.*'content'\?$/,
  ],
  [
    `chat.completions.create({ model: "m", messages: [{ role: "user", content: [{ type: "text", txt: "x" }] }] })`,
    /'txt'.*'text'\?$/,
  ],
  [
    `chat.completions.create({ model: "m", messages: [{ role: "user", content: [{ type: "image", url: "x" }] }] })`,
    /'"image"' is not assignable to type '"text" \| "image_url" \| "input_audio" \| "file" \| "refusal"'/,
  ],
  [`chat.completions.create({ ${question} }).then(({ choices }) => choices[0]!.mesage)`, /'mesage'.*'message'\?$/],
  [`audio.speech.create({ ${speech}, fromat: "mp3" })`, /'fromat' does not exist in type 'SpeechParams'/],
  [`audio.speech.with_streaming_response.create({ ${speech}, response_format: "flac" })`, /"flac"/],
  [`audio.speech.with_streaming_response.create({ ${speech}, fromat: "mp3" })`, /'fromat'.*'SpeechParams/],
  [`audio.transcriptions.create({ model: "m", file: "a.wav", langauge: "en" })`, /'langauge'.*'language'\?$/],
  [`audio.transcriptions.create({ model: "m", file: "a.wav", response_format: "xml" })`, /"xml"/],
  [`logs.query({ severty: "info" })`, /'severty'.*'severity'\?$/],
  [`logs.query({}).then(({ samples }) => samples[0]!.valus)`, /'valus'.*'values'\?$/],
  [`metrics.query({ metric: "m", stp: "1h" })`, /'stp'.*'step'\?$/],
  [`traces.query({ trace: "all_traces" }).then(({ spans }) => spans[0]!.nam)`, /'nam'.*'name'\?$/],
];

describe("the compiler reports one error", { timeout: 300_000 }, () => {
  const path = fileURLToPath(new URL("./mistakes.ts", import.meta.url));
  const lines = [
    `import { AsyncSounding } from "../src/index.ts";`,
    `const client = new AsyncSounding({ apiKey: "sk" });`,
    ...cases.map(([call]) => `void client.${call};`),
  ];
  const found = diagnosticsOf(path, lines.join("\n"));
  for (const [index, [call, says]] of cases.entries()) {
    test(`for ${call}`, () => {
      const [first, ...more] = found.filter(({ line }) => line === index + 2);
      assert.match(first?.message ?? "no error", says);
      assert.deepEqual(more, []);
    });
  }

  test("and none elsewhere", () =>
    assert.deepEqual(
      found.filter(({ line }) => line < 2),
      [],
    ));
});

/** Compiles a file that exists only in memory. */
function diagnosticsOf(path: string, text: string): { line: number; message: string }[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === path || fileExists(name);
  host.getSourceFile = (name, ...more) =>
    name === path ? ts.createSourceFile(name, text, ts.ScriptTarget.ESNext) : getSourceFile(name, ...more);
  const program = ts.createProgram([path], options, host);
  const file = program.getSourceFile(path);
  return program.getSemanticDiagnostics(file).map(({ start = 0, messageText }) => ({
    line: file!.getLineAndCharacterOfPosition(start).line,
    message: ts.flattenDiagnosticMessageText(messageText, " "),
  }));
}
