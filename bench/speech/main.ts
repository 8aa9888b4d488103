/**
 * Measures the latency and cost of speech synthesis: `npm run bench:speech` (about a minute). Compares one server with
 * Flite and the espeak-ng package with Debian's programs `flite` and `espeak-ng`, if installed, in one run over
 * loopback: a sentence, 10 000 characters, then 50 concurrent streams. Prints Markdown tables at the end.
 *
 * With `--piper`, it compares only a Piper voice of `npm run test:setup` with `piper-tts`, which it installs in the temporary folder.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cpuMicros, describeMachine, firstLine, residentBytes, start, stop } from "../processes.ts";
import { quantile } from "../quantile.ts";
import { comparePiper } from "./piper.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, piper: { type: "boolean", default: false } },
});
if (values.piper) {
  console.log(describeMachine({ bound: false }));
  await comparePiper();
  process.exit();
}
const rounds = values.quick ? 5 : 15;
const streams = 50;

const sentence = "The birch canoe slid on the smooth planks, and nobody on the shore saw it go.";
const paragraph =
  "It was late in the evening when they reached the village, and the lamps were lit. Nobody had expected them. " +
  "The innkeeper, a tall man of few words, showed them a room with two windows, and asked whether they had eaten. ";
const long = paragraph.repeat(Math.ceil(10_000 / paragraph.length)).slice(0, 10_000);

const directory = mkdtempSync(join(tmpdir(), "sounding-bench-speech-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
const config = join(directory, "sounding.yaml");
// JSON is YAML.
writeFileSync(
  config,
  JSON.stringify({
    server: { port: 0 },
    storage: { data_dir: join(directory, "data") },
    telemetry: { enabled: false },
    limits: { key: { requests_per_minute: 1e9, tokens_per_minute: 1e12, concurrent_requests: 100_000 } },
    engines: { flite: { type: "flite" }, "espeak-ng": { type: "espeak", variant: "package" } },
  }),
);
const cli = join(import.meta.dirname, "../../packages/cli/src/main.ts");
const server = start({
  command: [process.execPath, cli, "--json", "serve", "--config", config],
  env: { SOUNDING_LOG_LEVEL: "error", SOUNDING_INSTALL: "false" },
  measured: false,
});
const { url, firstStart } = JSON.parse(await firstLine(server)) as { url: string; firstStart: { key: string } };
const machine = describeMachine({ bound: false });

interface Spoken {
  readonly firstMs: number;
  readonly totalMs: number;
  readonly bytes: number;
}

async function speak(body: Readonly<Record<string, unknown>>): Promise<Spoken> {
  const startMs = performance.now();
  const response = await fetch(`${url}/v1/audio/speech`, {
    method: "POST",
    headers: { authorization: `Bearer ${firstStart.key}`, "content-type": "application/json" },
    body: JSON.stringify({ stream: true, response_format: "pcm", ...body }),
  });
  if (!response.ok) throw new Error(await response.text());
  let firstMs: number | undefined;
  let bytes = 0;
  for await (const piece of response.body!) {
    firstMs ??= performance.now() - startMs;
    bytes += piece.length;
  }
  return { firstMs: firstMs ?? NaN, totalMs: performance.now() - startMs, bytes };
}

const engines = [
  { name: "**Sounding**, Flite `slt`", body: { model: "flite", voice: "slt" }, rate: 16_000 },
  {
    name: "**Sounding**, Flite `slt`, mp3",
    body: { model: "flite", voice: "slt", response_format: "mp3" },
    rate: 16_000,
  },
  { name: "**Sounding**, Flite `kal16`", body: { model: "flite", voice: "kal16" }, rate: 16_000 },
  { name: "**Sounding**, espeak-ng's package", body: { model: "espeak-ng", voice: "en-us" }, rate: 22_050 },
];
const programs = [
  { name: "program `flite -voice slt`", command: ["flite", "-voice", "slt", "-o", "{}", "-t"], rate: 16_000 },
  { name: "program `flite -voice kal16`", command: ["flite", "-voice", "kal16", "-o", "{}", "-t"], rate: 16_000 },
  { name: "program `espeak-ng`", command: ["espeak-ng", "-v", "en-us", "-w", "{}"], rate: 22_050 },
];

/**
 * Cells of each contender: time to first audio of a sentence; CPU seconds per second of audio for the sentence and the
 * long text.
 */
const rows: string[][] = [];
for (const { name, body, rate } of engines) {
  // Warm up code and workers before measuring; for MP3, the length is that of the same text in PCM.
  for (let round = 0; round < 10; round++)
    await Promise.all([speak({ ...body, input: sentence }), speak({ ...body, input: sentence })]);
  const firsts: number[] = [];
  const cells: number[] = [];
  for (const [input, times] of [
    [sentence, rounds],
    [long, 1],
  ] as const) {
    const seconds = (await speak({ ...body, input, response_format: "pcm" })).bytes / 2 / rate;
    const before = cpuMicros(server.pid!);
    for (let round = 0; round < times; round++) {
      const { firstMs } = await speak({ ...body, input });
      if (input === sentence) firsts.push(firstMs);
    }
    cells.push((cpuMicros(server.pid!) - before) / 1e6 / times / seconds);
  }
  rows.push([
    name,
    quantile(firsts, 0.5).toFixed(0),
    quantile(firsts, 0.95).toFixed(0),
    ...cells.map((cell) => cell.toFixed(4)),
  ]);
}
for (const { name, command, rate } of programs) {
  const file = join(directory, "out.wav");
  const [program, ...operands] = command.map((word) => word.replace("{}", file));
  if (spawnSync(program!, ["--version"], { stdio: "ignore" }).error !== undefined) continue;
  const times: number[] = [];
  const cells: number[] = [];
  for (const [input, count] of [
    [sentence, rounds],
    [long, 1],
  ] as const) {
    const before = childMicros();
    for (let round = 0; round < count; round++) {
      const startMs = performance.now();
      spawnSync(program!, [...operands, input]);
      if (input === sentence) times.push(performance.now() - startMs);
    }
    const micros = childMicros() - before;
    cells.push(micros / 1e6 / count / wavSeconds(file, rate));
  }
  rows.push([
    name,
    quantile(times, 0.5).toFixed(0),
    quantile(times, 0.95).toFixed(0),
    ...cells.map((cell) => cell.toFixed(4)),
  ]);
}

// Fifty clients start at the same time with a text of five minutes, and leave after a while; this shows who waits.
const crowdMs = values.quick ? 6_000 : 15_000;
const crowd = await Promise.all(Array.from({ length: streams }, () => listen(crowdMs)));
const firsts = crowd.map(({ firstMs }) => firstMs);
const seconds = crowd.map(({ bytes }) => bytes / 2 / 16_000);
// A hundred thousand characters at a time: the peak memory of the server.
const memoryBefore = residentBytes(server.pid!).now;
const book = await speak({ model: "flite", voice: "kal16", input: long.repeat(values.quick ? 3 : 10) });
const { highest } = residentBytes(server.pid!);
await stop(server);

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
const table = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...body]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

console.log(`\n${machine}\n`);
console.log(
  table(
    [
      "",
      "sentence: first audio p50, ms",
      "p95",
      "CPU s a second of audio",
      "10 000 characters: CPU s a second of audio",
    ],
    rows,
  ),
);
console.log(`\n${streams} concurrent streams, Flite \`slt\`, ${crowdMs / 1000} s:\n`);
console.log(
  table(
    ["first audio p50, ms", "p95", "worst", "audio s, least", "median", "most"],
    [
      [quantile(firsts, 0.5), quantile(firsts, 0.95), quantile(firsts, 1)]
        .map((ms) => ms.toFixed(0))
        .concat([quantile(seconds, 0), quantile(seconds, 0.5), quantile(seconds, 1)].map((each) => each.toFixed(1))),
    ],
  ),
);
console.log(
  `\nA text of ${values.quick ? 30_000 : 100_000} characters, ${(book.bytes / 32_000 / 60).toFixed(0)} min of audio in ${(book.totalMs / 1000).toFixed(0)} s: ` +
    `${mebibytes(memoryBefore)} MiB before, at most ${mebibytes(highest)} MiB.`,
);

/** A stream from which the client disconnects after some time. */
async function listen(ms: number): Promise<{ firstMs: number; bytes: number }> {
  const startMs = performance.now();
  const signal = AbortSignal.timeout(ms);
  let firstMs: number | undefined;
  let bytes = 0;
  try {
    const response = await fetch(`${url}/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: `Bearer ${firstStart.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "flite", voice: "slt", input: long, stream: true, response_format: "pcm" }),
      signal,
    });
    for await (const piece of response.body!) {
      firstMs ??= performance.now() - startMs;
      bytes += piece.length;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { firstMs: firstMs ?? ms, bytes };
}

/**
 * CPU time of the exited programs.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function childMicros(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10_000;
}

function wavSeconds(file: string, rate: number): number {
  return (statSync(file).size - 44) / 2 / rate;
}
