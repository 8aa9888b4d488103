/** `sounding spend`: its table, its CSV, and the comparison with exports of vendors. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import type { Spend } from "@sounding/client";
import * as fc from "fast-check";
import { propertyRuns } from "../../../test/support/property-runs.ts";
import { json, startScriptedServer, type Answer } from "../../client/test/scripted-server.ts";
import { run } from "../src/run.ts";
import { readCsv } from "../src/spend/invoice/csv-rows.ts";
import { modelIdentity } from "../src/spend/invoice/model-identity.ts";
import { widthOf } from "../src/terminal/text-width.ts";
import { runSounding, type Outcome } from "./run-sounding.ts";

const server = await startScriptedServer();
const folder = await mkdtemp(join(tmpdir(), "sounding-spend-"));
after(() => rm(folder, { recursive: true, force: true }));
const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url, SOUNDING_ADMIN_KEY: "sk-operator" };

function sounding(words: readonly string[], input?: string): Promise<Outcome> {
  return runSounding(words, { env, ...(input === undefined ? {} : { input }) });
}

async function inTerminal(words: readonly string[], width: number): Promise<string> {
  const stdout = new PassThrough({ highWaterMark: 1_000_000 });
  await run(words, {
    stdin: Readable.from([]),
    stdout,
    stderr: new PassThrough(),
    isTTY: { stdin: false, stdout: true, stderr: false },
    terminalWidth: width,
    env: { ...env, NO_COLOR: "1" },
    signal: new AbortController().signal,
    abortedExitCode: () => 130,
  });
  stdout.end();
  return await text(stdout);
}

type Row = Spend["data"][number];

const counts = { calls: 1, unpriced_calls: 0, cache_read_tokens: 0, cache_write_tokens: 0 };

function rowOf(group: Row["group"], cost: string, more: Partial<Row> = {}): Row {
  return { group, currency: "USD", cost, input_tokens: 1000, output_tokens: 100, ...counts, ...more };
}

function spendOf(by: string[], data: Row[], totals: Spend["totals"] = []): Answer {
  const range = { start: "2026-11-01T00:00:00.000Z", end: "2026-11-28T00:00:00.000Z", time_zone: "UTC" };
  return json({ object: "spend", ...range, by, data, totals, truncated: false });
}

const total = { currency: "USD", cost: "12.5000000001", input_tokens: 2000, output_tokens: 200, ...counts, calls: 4 };

describe("sounding spend", { timeout: 60_000 }, () => {
  test("shows bars, and says which costs are unknown", async () => {
    server.answer(
      spendOf(
        ["model"],
        [
          rowOf({ model: "large" }, "10"),
          rowOf({ model: "small" }, "2.5"),
          rowOf({ model: "tiny" }, "0.000000001"),
          rowOf({ model: null }, "0", { unpriced_calls: 1 }),
        ],
        [{ ...total, unpriced_calls: 1 }],
      ),
    );
    const shown = await inTerminal(["spend"], 100);
    assert.equal(
      shown,
      [
        "MODEL      COST                            CALLS  WITHOUT PRICE  TOKENS IN  TOKENS OUT",
        "large     10.00  ████████████████████████      1              0         1k         100",
        "small      2.50  ██████                        1              0         1k         100",
        "tiny    <0.0001  ▏                             1              0         1k         100",
        "(none)  unknown                                1              1         1k         100",
        "",
        "Total: 12.5000000001 USD for 4 calls, 2,000 tokens in, 200 out, from 2026-11-01T00:00:00.000Z to 2026-11-28T00:00:00.000Z; days in UTC. The cost of 1 is unknown, because their models have no price.",
        "",
      ].join("\n"),
    );
    server.answer(spendOf(["user"], [rowOf({ user: "\u001b[2Jx".repeat(60) }, "10")]));
    for (const line of (await inTerminal(["spend", "--by", "user"], 40)).trimEnd().split("\n")) {
      assert.ok(widthOf(line) <= 40 && !line.includes("\u001b"), line);
    }
  });

  test("asks for what the options say", async () => {
    server.answer(spendOf([], []));
    const words = ["spend", "--by", "tag:team,day", "--since", "2026-11-01", "--until", "2026-11-02T12:00", "--utc"];
    const filters = [
      "--model",
      "m",
      "--engine",
      "e",
      "--key",
      "k",
      "--user",
      "u",
      "--project",
      "p",
      "--tag",
      "a=b=c",
      "--tag",
      "d=",
    ];
    const { code, stderr } = await sounding([...words, ...filters]);
    assert.deepEqual([code, stderr], [0, "No calls from 2026-11-01 to 2026-11-02T12:00.\n"]);
    const { headers, url } = server.requests.at(-1)!;
    const query = new URL(url, server.url).searchParams;
    assert.deepEqual(Object.fromEntries(query), {
      by: "tag:team,day",
      start: "2026-11-01T00:00:00.000Z",
      end: "2026-11-02T12:00:00.000Z",
      time_zone: "UTC",
      model: "m",
      engine: "e",
      key_id: "k",
      user_id: "u",
      project_name: "p",
      tags: '{"a":"b=c","d":""}',
    });
    assert.equal(headers["authorization"], "Bearer sk-test");
    server.answer(spendOf([], []));
    await sounding(["spend", "--all-organizations", "--by", "organization"]);
    const { headers: operator, url: path } = server.requests.at(-1)!;
    assert.match(path, /^\/admin\/v1\/spend\?by=organization&time_window=30d&time_zone=/);
    assert.equal(operator["authorization"], "Bearer sk-operator");
  });

  test("writes CSV with exact amounts, which a spreadsheet does not run", async () => {
    const rows = [
      rowOf({ user: '=HYPERLINK("x")', day: "2026-11-01", key: "key_1" }, "0.000000001", { key_name: "app, new" }),
      rowOf({ user: null, day: "2026-11-02", key: null }, "123456789.123456789", { key_name: null }),
    ];
    server.answer(spendOf(["user", "day", "key"], rows));
    const { stdout } = await sounding(["spend", "--by", "user,day,key", "--csv"]);
    assert.equal(
      stdout,
      [
        "user,day,key,key_name,currency,cost,calls,unpriced_calls,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens",
        `"'=HYPERLINK(""x"")",2026-11-01,key_1,"app, new",USD,0.000000001,1,0,1000,100,0,0`,
        ",2026-11-02,,,USD,123456789.123456789,1,0,1000,100,0,0",
        "",
      ].join("\r\n"),
    );
  });

  test("refuses what it cannot read", async () => {
    for (const [words, message] of [
      [["spend", "--tag", "team"], /--tag is "team"/],
      [["spend", "--json", "--csv"], /cannot be combined/],
      [["spend", "--organization", "a", "--all-organizations"], /cannot be combined/],
      [["spend", "check"], /--invoice is missing/],
      [["spend", "check", "-i", "f", "--tolerance", "101"], /--tolerance is "101"/],
      [["spend", "check", "-i", "f", "--rename", "a"], /--rename is "a"/],
    ] as const) {
      const { code, stderr } = await sounding(words);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
  });
});

const openaiUsage = `start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,api_key_id,model,batch,service_tier,input_tokens,output_tokens,input_cached_tokens
1795219200,1795305600,2026-11-21T00:00:00+00:00,2026-11-22T00:00:00+00:00,proj,3,,,gpt-4o-2024-08-06,false,,1000000,5000,2000
1795219200,1795305600,2026-11-21T00:00:00+00:00,2026-11-22T00:00:00+00:00,proj,1,,,gpt-4o-2024-08-06,true,,500000,2500,0
1795305600,1795392000,2026-11-22T00:00:00+00:00,2026-11-23T00:00:00+00:00,,,,,,,,,,
1795392000,1795478400,2026-11-23T00:00:00+00:00,2026-11-24T00:00:00+00:00,proj,1,,,text-embedding-3-small,,,70,,
`;
const openaiCosts = `start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,line_item,project_id
1795219200,1795305600,,,3.750000000000000000000001,usd,"gpt-4o-2024-08-06, input",proj
1795219200,1795305600,,,7.5e-2,usd,"gpt-4o-2024-08-06, output",proj
1795305600,1795392000,,,,,,
1795392000,1795478400,,,0.0000014,usd,"text-embedding-3-small, input",proj
`;
const anthropicUsage = `usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count
2026-11-21 15:00,claude-sonnet-4-5-20250929,"key, one",Default,standard,≤ 200k,5,1253,0,128955,500,0
`;
const anthropicCosts = `\uFEFFusage_date_utc\tmodel\ttoken_type\tcost_usd\tcost_type
2026-11-21\tClaude Sonnet 4.5\tinput_no_cache\t0.04\ttoken
2026-11-21\tClaude Sonnet 4.5\toutput\t0.01\ttoken
`;

/** What Sounding counted. */
const counted: Row[] = [
  rowOf({ day: "2026-11-21", model: "gpt-4o" }, "3.825", { input_tokens: 1_500_000, output_tokens: 7500 }),
  rowOf({ day: "2026-11-23", model: "embedder" }, "0.0000014", { input_tokens: 70, output_tokens: 0 }),
  rowOf({ day: "2026-11-21", model: "claude-sonnet-4-5" }, "0.05090025", { input_tokens: 130_213, output_tokens: 500 }),
];

async function check(
  files: Readonly<Record<string, string>>,
  words: readonly string[] = [],
  rows = counted,
): Promise<Outcome> {
  const paths = await Promise.all(
    Object.entries(files).map(async ([name, content]) => {
      const path = join(folder, name);
      await writeFile(path, content);
      return ["--invoice", path];
    }),
  );
  server.answer(spendOf(["day", "model"], rows));
  return await sounding(["spend", "check", ...paths.flat(), ...words]);
}

describe("sounding spend check", { timeout: 60_000 }, () => {
  test("finds OpenAI's usage and costs equal", async () => {
    const files = { "usage.csv": openaiUsage, "costs.csv": openaiCosts };
    const { code, stderr, stdout } = await check(files, ["--rename", "embedder=text-embedding-3-small"]);
    assert.deepEqual([code, stderr], [0, ""], stdout);
    assert.match(stdout, /^From 2026-11-21 to 2026-11-23, in UTC:\n/);
    assert.match(
      stdout,
      /tokens in +1,500,070 +1,500,070 +0 %\ntokens out +7,500 +7,500 +0 %\ncost +3\.8250014 +3\.8250014 +0 %/,
    );
    assert.match(stdout, /All 6 numbers are equal within 1 %/);
    assert.match(stdout, /Left out, because no file names them: claude-sonnet-4-5\./);
    const query = new URL(server.requests.at(-1)!.url, server.url).searchParams;
    assert.deepEqual(Object.fromEntries(query), {
      by: "day,model",
      start: "2026-11-21",
      end: "2026-11-24",
      time_zone: "UTC",
      limit: "10000",
    });
  });

  test("finds Anthropic's usage and costs equal, which are rounded to cents", async () => {
    const words = ["--model", "claude-sonnet-4-5"];
    const { code, stdout } = await check({ "usage.csv": anthropicUsage, "costs.csv": anthropicCosts }, words, [
      counted[2]!,
    ]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /tokens in +130,213 +130,213 +0 %/);
    assert.match(stdout, /cost +0\.05090025 +0\.05 +\+1\.8 %/);
  });

  test("shows what differs, by day or in sum, and fails", async () => {
    const rows = [
      ...counted.slice(0, 1),
      rowOf({ day: "2026-11-22", model: "gpt-4o" }, "1", { input_tokens: 15_000, unpriced_calls: 2 }),
    ];
    const files = { "usage.csv": openaiUsage };
    const byDay = await check(files, ["--engine", "openai"], rows);
    assert.equal(byDay.code, 1);
    assert.equal(
      byDay.stdout,
      [
        "DAY         MODEL                   WHAT        COUNTED  INVOICED    DIFFERENCE",
        "2026-11-22  gpt-4o-2024-08-06       tokens in    15,000         0  not invoiced",
        "2026-11-22  gpt-4o-2024-08-06       tokens out      100         0  not invoiced",
        "2026-11-23  text-embedding-3-small  tokens in         0        70   not counted",
        "",
        "From 2026-11-21 to 2026-11-23, in UTC:",
        "TOTAL         COUNTED   INVOICED  DIFFERENCE",
        "tokens in   1,515,000  1,500,070    +0.995 %",
        "tokens out      7,600      7,500    +1.333 %",
        "",
        "3 of 6 numbers differ by more than 1 % and the vendor's rounding.",
        "",
      ].join("\n"),
    );
    const byModel = await check(files, ["--by", "model", "--tolerance", "2", "--json"], rows);
    const { exceeding, rows: compared } = JSON.parse(byModel.stdout) as { exceeding: number; rows: object[] };
    assert.equal(exceeding, 1);
    assert.deepEqual(compared[0], {
      day: null,
      model: "gpt-4o-2024-08-06",
      measure: "input_tokens",
      counted: "1515000",
      invoiced: "1500000",
      difference_percent: 1,
      exceeds: false,
      unpriced_calls: 0,
    });
  });

  test("compares days of an export without models with all of Sounding's", async () => {
    const costs = openaiCosts.replaceAll(/"[\w-]+, \w+"/g, "");
    const { code, stdout } = await check({ "costs.csv": costs }, ["--all"], counted.slice(0, 2));
    assert.equal(code, 0, stdout);
    assert.match(stdout, /2026-11-21 +all +cost +3\.825 +3\.825 +0 % +within tolerance/);
  });

  for (const [name, content, message] of [
    [
      "unknown columns",
      "day,tokens\n2026-11-21,5\n",
      /file\.csv, line 1: the columns are day, tokens; expected .*usage_date_utc/,
    ],
    ["no header", "", /line 1: the file is empty/],
    ["a row that is cut", openaiUsage.slice(0, -20), /line 5: the row has \d+ values; the header has 14/],
    ["a quote that does not end", `${openaiUsage}"abc`, /line 6: a quoted value does not end/],
    ["text after a quote", `${openaiUsage}"a"b`, /line 6: text follows/],
    [
      "letters as tokens",
      openaiUsage.replace("500000", "many"),
      /line 3: input_tokens is "many"; expected a whole number/,
    ],
    ["an infinite amount", openaiCosts.replace("7.5e-2", "1e999"), /line 3: amount_value is "1e999"/],
    ["a column twice", openaiUsage.replace("project_id", "model"), /line 1: the column "model" appears twice/],
    [
      "weeks instead of days",
      openaiUsage.replace("1795219200,1795305600", "1795219200,1795824000"),
      /line 2: end_time .* export the usage by day/,
    ],
    [
      "a day that does not exist",
      anthropicUsage.replace("2026-11-21", "2026-02-31"),
      /line 2: usage_date_utc is "2026-02-31 15:00"/,
    ],
    [
      "two currencies",
      openaiCosts.replace("7.5e-2,usd", "7.5e-2,eur"),
      /line 3: the amount is in EUR, an earlier one in USD/,
    ],
    ["bytes that are no text", "start_time,model,input_tokens\n\0", /NUL/],
    [
      "a row without an end",
      `start_time,model,input_tokens\n${"x".repeat(100_000)}`,
      /line 2: the row has more than 65536 characters/,
    ],
    ["too many values", `start_time,model,input_tokens${",x".repeat(300)}`, /line 1: the row has more than 256 values/],
    [
      "rows with and without models",
      openaiUsage.replace("text-embedding-3-small", ""),
      /line 5: some rows name a model/,
    ],
    ["no usage", openaiUsage.split("\n")[0]!, /the files have no usage/],
  ] as const) {
    test(`refuses a file with ${name}, naming the line`, async () => {
      const { code, stderr, stdout } = await sounding(["spend", "check", "--invoice", await fileOf(content)]);
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, message);
      assert.ok(stderr.length < 3000);
    });
  }

  async function fileOf(content: string): Promise<string> {
    const path = join(folder, "file.csv");
    await writeFile(path, content);
    return path;
  }

  test("reads standard input, and refuses what is not UTF-8 or not there", async () => {
    server.answer(spendOf(["day", "model"], counted));
    assert.equal((await sounding(["spend", "check", "-i", "-"], anthropicUsage)).code, 0);
    await writeFile(join(folder, "latin.csv"), Buffer.from([0x61, 0x2c, 0xe9, 0x0a]));
    assert.match((await sounding(["spend", "check", "-i", join(folder, "latin.csv")])).stderr, /not UTF-8/);
    assert.match(
      (await sounding(["spend", "check", "-i", join(folder, "none.csv")])).stderr,
      /none\.csv cannot be read/,
    );
  });

  test("refuses to compare amounts in different currencies", async () => {
    const rows = [{ ...counted[0]!, currency: "EUR" }];
    const { code, stderr } = await check({ "costs.csv": openaiCosts }, [], rows);
    assert.equal(code, 1);
    assert.match(stderr, /counted in EUR, and the invoice is in USD/);
  });
});

describe("comma-separated values", () => {
  async function cellsOf(chunks: readonly Uint8Array[]): Promise<(readonly string[])[]> {
    const rows: (readonly string[])[] = [];
    for await (const { cells } of readCsv(Readable.from(chunks) as AsyncIterable<Uint8Array>)) rows.push(cells);
    return rows;
  }

  const cell = fc.stringMatching(/^[a-z",;\t\r\n é💸]{0,8}$/u);

  test("are read as they were written, however they are cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 6 }),
        fc.constantFrom("\n", "\r\n"),
        fc.integer({ min: 1, max: 7 }),
        async (rows, lineEnd, size) => {
          const all = [["first", "second"], ...rows];
          const bytes = Buffer.from(
            all.map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(",") + lineEnd).join(""),
          );
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          );
          assert.deepEqual(await cellsOf(chunks), all);
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });

  test("that are random bytes are read or refused, never anything else", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await cellsOf([bytes]).catch((error: Error) => assert.match(error.message, /^line \d+: /));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test("may be separated by tabs and semicolons", async () => {
    assert.deepEqual(await cellsOf([Buffer.from("a;b\n1,5;2\n\n")]), [
      ["a", "b"],
      ["1,5", "2"],
    ]);
    assert.deepEqual(await cellsOf([Buffer.from("a\tb\r1,5\t2")]), [
      ["a", "b"],
      ["1,5", "2"],
    ]);
  });
});

test("names of models are compared without vendors and dates", () => {
  for (const [left, right] of [
    ["gpt-4o-2024-08-06", "gpt-4o"],
    ["claude-sonnet-4-5-20250929", "Claude Sonnet 4.5"],
    ["openai/gpt-4.1", "gpt-4.1-2025-04-14"],
    ["claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"],
  ] as const) {
    assert.equal(modelIdentity(left), modelIdentity(right));
  }
  assert.notEqual(modelIdentity("gpt-4o"), modelIdentity("gpt-4o-mini"));
});
