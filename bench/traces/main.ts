/**
 * Measures searches and metrics of traces: `npm run bench:traces`, `npm run bench:traces -- --quick` (about a minute). Fills the
 * server with spans of a day over OTLP, then asks as Grafana does, one request after the other. `--tempo PROGRAM` sends the same
 * spans and requests to a real Tempo, whose columns are missing without it. `--spans N` (10000000) and `--rounds N` set the size.
 * Prints a Markdown table at the end.
 */
import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { describeMachine } from "../processes.ts";
import { quantile } from "../quantile.ts";
import type { Contender } from "./contender.ts";
import { allSpansPath, countAllSpans, questionsOf, type Question } from "./questions.ts";
import { startSounding } from "./sounding.ts";
import { createSpanRequests, type SpanRequests } from "./span-requests.ts";
import { startTempo } from "./tempo.ts";

const { values: given } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    spans: { type: "string" },
    rounds: { type: "string" },
    tempo: { type: "string" },
  },
});
const spanCount = Number(given.spans ?? (given.quick ? 200_000 : 10_000_000));
const rounds = Number(given.rounds ?? (given.quick ? 5 : 20));
const requestsInFlight = 8;
/** A contender that takes so long for its rounds is measured with those that it has done. */
const patienceMs = 15_000;
const daySeconds = 86_400;

const log = (text: string): void => void process.stderr.write(`${text}\n`);
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");

async function fill(contender: Contender, requests: SpanRequests): Promise<string> {
  const startMs = performance.now();
  const cpuBefore = contender.cpuMicros();
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < requests.count) await contender.send(requests.request(next++));
  };
  await Promise.all(Array.from({ length: requestsInFlight }, sender));
  const seconds = (performance.now() - startMs) / 1000;
  await contender.untilQuiet();
  const sent = requests.count * requests.spansPerRequest;
  const cpu = (contender.cpuMicros() - cpuBefore) / sent;
  return `${contender.name} took ${whole(sent)} spans in ${ms(seconds)} s, ${cpu.toFixed(1)} µs of CPU time each, merging included.`;
}

/** Waits until a count has every span, for two minutes at most. */
async function untilComplete(contender: Contender, path: string, expected: number): Promise<string> {
  let found = 0;
  for (let attempt = 0; attempt < 24; attempt++) {
    found = countAllSpans(await contender.ask(path));
    if (found >= expected) break;
    await sleep(5000);
  }
  return `${contender.name} counts ${whole(found)} spans.`;
}

interface Measured {
  readonly wallMs: readonly number[];
  readonly cpuMs: readonly number[];
  readonly count: number;
}

/** One request after the other; the first is not counted. */
async function measure(contender: Contender, { count, path }: Question): Promise<Measured> {
  const wallMs: number[] = [];
  const cpuMs: number[] = [];
  const answer = await contender.ask(path);
  const endMs = performance.now() + patienceMs;
  for (let round = 0; round < rounds && (round < 3 || performance.now() < endMs); round++) {
    const cpuBefore = contender.cpuMicros();
    const startMs = performance.now();
    await contender.ask(path);
    wallMs.push(performance.now() - startMs);
    cpuMs.push((contender.cpuMicros() - cpuBefore) / 1000);
  }
  return { wallMs, cpuMs, count: count(answer) };
}

function cellsOf({ count, cpuMs, wallMs }: Measured): string[] {
  return [ms(quantile(wallMs, 0.5)), ms(quantile(wallMs, 0.95)), ms(quantile(cpuMs, 0.5)), whole(count)];
}

const lines: string[] = [];
const contenders: Contender[] = [];
try {
  log(`${describeMachine({ bound: false })}; ${whole(spanCount)} spans, ${rounds} rounds a query`);
  contenders.push(await startSounding());
  if (given.tempo === undefined) lines.push("Not compared with Tempo: `--tempo PROGRAM` names its program.");
  else contenders.push(await startTempo(given.tempo));
  const to = Math.floor(Date.now() / 1000);
  const from = to - daySeconds;
  const requests = createSpanRequests(spanCount, BigInt(to) * 1_000_000_000n);
  const expected = requests.count * requests.spansPerRequest;
  lines.push(...(await Promise.all(contenders.map((contender) => fill(contender, requests)))));
  for (const contender of contenders) {
    lines.push(await untilComplete(contender, allSpansPath({ from, to: to + 60 }), expected));
  }
  for (const line of lines) log(line);
  const columns = contenders.map(({ name }) => `${name} p50 ms | p95 ms | CPU ms | found`);
  const rows = [
    `| request, 24 h | target of p95 | ${columns.join(" | ")} |`,
    `| --- | --: | ${contenders.map(() => "--: | --: | --: | --:").join(" | ")} |`,
  ];
  for (const question of questionsOf({ from, to, requests: requests.count })) {
    const cells: string[] = [];
    for (const contender of contenders) cells.push(...cellsOf(await measure(contender, question)));
    const target = question.targetMs === undefined ? "–" : `${question.targetMs} ms`;
    rows.push(`| ${[question.title, target, ...cells].join(" | ")} |`);
    log(rows.at(-1)!);
  }
  process.stdout.write(`${describeMachine({ bound: false })}\n\n${lines.join("\n")}\n\n${rows.join("\n")}\n`);
} finally {
  await Promise.allSettled(contenders.map((contender) => contender.end()));
}
