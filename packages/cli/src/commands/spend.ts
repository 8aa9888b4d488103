/** `sounding spend`: what calls cost, by model, user, day, …, and what a vendor's invoice says instead. */
import { readInteger } from "../admin-options.ts";
import { UsageError } from "../cli-error.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { checkInvoices, describeFormats } from "../spend/check-invoices.ts";
import { showSpend, writeSpendCsv } from "../spend/show-spend.ts";
import { openSpend, readSpendFilters, spendFilterOptions } from "../spend/spend-query.ts";
import { describeRange, rangeOptions, readTimeRange } from "../telemetry/time-range.ts";

const showCommand = command({
  name: "show",
  summary: "Show what calls cost, by model, user, key, day, …",
  description: `Adds up the recorded costs of the calls of the key's organization. The sums are exact; the table rounds them, --csv and --json do
not. Calls of models without a price have no cost: they are counted next to the sum. The key needs the permission telemetry_read.

With --json: the answer of \`GET /observability/spend\`.`,
  options: {
    by: {
      type: "string",
      short: "b",
      value: "LIST",
      default: "model",
      description:
        "What to group by, separated by commas: model, engine, organization, project, key, user, day, or tag:NAME for the values of a name in the metadata or the header x-tags of requests. Empty: the total only.",
    },
    since: { ...rangeOptions.since, default: "30d" },
    until: rangeOptions.until,
    utc: { type: "boolean", description: "Days and times in UTC instead of local time." },
    limit: { type: "string", short: "n", value: "COUNT", description: "Maximum number of groups. Default 1000." },
    csv: { type: "boolean", description: "Write comma-separated values with exact amounts." },
    ...spendFilterOptions,
  },
  examples: [
    ["sounding spend", "The last 30 days by model."],
    ["sounding spend --by day,model --since 2026-11-01", "November by day and model."],
    ["sounding spend --by user --tag team=search --csv", "Users of one team, for a spreadsheet."],
    ["sounding spend --by organization --all-organizations", "All organizations, for an operator."],
  ],
  async run({ values, json, io }) {
    if (json && values.csv === true) throw new UsageError("--json and --csv cannot be combined");
    const read = await openSpend(values, io);
    const spend = await read(
      {
        ...readSpendFilters(values),
        ...readTimeRange(values, Date.now()),
        by: values.by,
        time_zone: values.utc === true ? "UTC" : new Intl.DateTimeFormat().resolvedOptions().timeZone,
        limit: values.limit === undefined ? undefined : readInteger("limit", values.limit),
      },
      { signal: io.signal },
    );
    if (json) await writeJson(io.stdout, spend);
    else if (values.csv === true) await writeSpendCsv(spend, io);
    else if (spend.totals.length === 0) await writeLine(io.stderr, `No calls ${describeRange(values)}.`);
    else await showSpend(spend, io);
    return exitCodes.ok;
  },
});

const checkCommand = command({
  name: "check",
  summary: "Compare a vendor's usage or cost export with what Sounding counted",
  description: `Reads CSV files that OpenAI's usage page and Anthropic's console export, and compares their tokens and costs with those that
Sounding counted, by day (UTC) and model. Nothing is sent but queries of spend. ${describeFormats()}

Names of models are compared without dates: gpt-4o-2024-08-06 is gpt-4o. Use --rename for models that you named otherwise, and --engine if
other engines serve models of the same names. The exit code is 1 if a difference is larger than the tolerance.`,
  options: {
    invoice: {
      type: "string",
      short: "i",
      value: "FILE",
      multiple: true,
      description: "An export of the vendor, or - for standard input; may be repeated, such as for usage and costs.",
    },
    tolerance: {
      type: "string",
      value: "PERCENT",
      default: "1",
      description: "Largest difference that counts as equal, in percent of the vendor's number.",
    },
    by: {
      type: "string",
      short: "b",
      value: "WHAT",
      choices: ["day", "model"],
      default: "day",
      description: "Compare each day, or the sum of the file's days: calls around midnight can count on another day.",
    },
    rename: {
      type: "string",
      value: "OURS=THEIRS",
      multiple: true,
      description: "The vendor's name of one of your models; may be repeated.",
    },
    all: { type: "boolean", description: "Show rows without differences, too." },
    ...spendFilterOptions,
  },
  examples: [
    ["sounding spend check --invoice completions_usage.csv --engine openai", "Tokens that OpenAI counted."],
    [
      "sounding spend check -i usage.csv -i cost.csv --tolerance 0.5 --by model",
      "Tokens and costs, of the whole month.",
    ],
  ],
  async run({ values, json, io }) {
    if (values.invoice === undefined) throw new UsageError("--invoice is missing; it must be a file");
    return await checkInvoices({ ...values, invoice: values.invoice }, { json, io });
  },
});

export const spendCommand = command({
  ...showCommand,
  name: "spend",
  subcommands: [showCommand, checkCommand],
});
