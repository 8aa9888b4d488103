/** `sounding prices`: shows which prices apply to models, and why. */
import type { PriceList } from "@sounding/client";
import { command } from "../command.ts";
import { connectionOptions, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";

type Price = PriceList["data"][number];
type DatedPrice = Price["prices"][number];
type Tier = DatedPrice["tokens"][number];

export const pricesCommand = command({
  name: "prices",
  summary: "Show which prices apply to models, and why",
  description: `A price is that of your organization (\`telemetry.organization_prices\`), configured for everyone (\`telemetry.token_prices\`),
published by the model's vendor, or unknown: calls of such a model have no cost. The prices are those of one million tokens, now, for short prompts; with a model, all of its prices, including those of other
days and of long prompts.

With --json: the answer of \`GET /v1/prices\`.`,
  arguments: [{ name: "model", description: "Only this model or alias.", required: false }],
  options: { ...connectionOptions },
  examples: [
    ["sounding prices", "All models."],
    ["sounding prices text-embedding-3-small", "Everything about one."],
  ],
  async run({ values, positionals, json, io }) {
    const client = await openClient(values, io);
    const [model] = positionals;
    const list = await client.models.prices({ model, signal: io.signal });
    if (json) {
      await writeJson(io.stdout, list);
      return exitCodes.ok;
    }
    const { currency, data, published } = list;
    if (model === undefined) {
      await writeTable(io, listColumns, data.map(rowOf));
    } else {
      for (const price of data) {
        await writeLine(io.stdout, `${price.model} at ${price.engine}: ${originOf(price)}`);
        const lines = linesOf(price.prices, currency);
        if (lines.length > 0) await writeTable(io, detailColumns, lines);
      }
    }
    const table =
      published === null
        ? "Published prices do not count."
        : `Published prices are those of genai-prices ${published.version}, ${published.date}.`;
    await writeLine(io.stdout, `\nPrices are in ${currency}. ${table}`);
    return exitCodes.ok;
  },
});

const amount = { align: "right", whole: true } as const;
const listColumns = [
  "model",
  { title: "engine", optional: 1 },
  { title: "input", ...amount },
  { title: "cached", ...amount, optional: 2 },
  { title: "output", ...amount },
  "price",
] as const;
const detailColumns = ["for", { title: "price", ...amount }, "holds"] as const;

function rowOf(price: Price): string[] {
  const tier = price.prices.find(({ current }) => current)?.tokens[0];
  const rates = tier === undefined ? ["-", "-", "-"] : [tier.input, tier.cache_read, tier.output].map(show);
  return [price.model, price.engine, ...rates, originOf(price)];
}

function originOf({ name, prices, reason, source }: Price): string {
  if (source === "unknown") return `unknown: ${reason ?? ""}`;
  const converted = prices.find(({ current }) => current)?.converted_from;
  const rate = converted == null ? "" : ` (1 ${converted.currency} = ${show(converted.exchange_rate)})`;
  return `${source}: ${name ?? ""}${rate}`;
}

const kinds = [
  ["input", "input"],
  ["cache_read", "read from a cache"],
  ["cache_write", "written to a cache"],
  ["cache_write_1h", "written to a cache for an hour"],
  ["audio_input", "audio input"],
  ["audio_cache_read", "audio read from a cache"],
  ["output", "output"],
  ["audio_output", "audio output"],
  ["image_output", "image output"],
  ["reasoning", "reasoning"],
  ["citation", "pages that were found"],
] as const satisfies readonly (readonly [keyof Tier, string])[];

const ofOutput: ReadonlySet<keyof Tier> = new Set(["audio_output", "image_output", "reasoning", "citation"]);

const units = [
  ["characters", "1,000,000 characters of speech"],
  ["audio_minute", "1 minute of audio"],
  ["request", "1 call"],
  ["web_searches", "1,000 web searches"],
] as const satisfies readonly (readonly [keyof DatedPrice, string])[];

/** The price of each kind of token that differs from that of plain tokens, and of everything else that has one. */
function linesOf(prices: readonly DatedPrice[], currency: string): string[][] {
  return prices.flatMap((price) => {
    const holds = whenOf(price);
    const amountOf = (value: number): string => `${show(value)} ${currency}${givenAmount(value, price)}`;
    const linesOfTiers = (tiers: readonly Tier[], where: string): string[][] =>
      tiers.flatMap((tier) => {
        const isLong = tier.above === 0 ? "" : `, prompts above ${tier.above.toLocaleString("en-US")}`;
        return kinds
          .filter(([kind]) => kind === "input" || kind === "output" || tier[kind] !== tier[plainOf(kind)])
          .map(([kind, words]) => [`1,000,000 tokens, ${words}${isLong}${where}`, amountOf(tier[kind]), holds]);
      });
    const ofTokens = [
      ...linesOfTiers(price.tokens, ""),
      ...Object.entries(price.service_tiers).flatMap(([name, tiers]) => linesOfTiers(tiers, `, ${name}`)),
    ];
    const others = units.flatMap(([unit, words]) => {
      const value = price[unit];
      return value === null ? [] : [[words, amountOf(value), holds]];
    });
    return [...ofTokens, ...others];
  });
}

function plainOf(kind: (typeof kinds)[number][0]): "input" | "output" {
  return ofOutput.has(kind) ? "output" : "input";
}

function whenOf({ current, from, hours }: DatedPrice): string {
  const days = from === null ? "" : `from ${from}`;
  const times = hours === null ? "" : `${hours.from} to ${hours.to} UTC`;
  return [current ? "now" : "", days, times].filter((part) => part !== "").join(", ");
}

/** In the currency in which the price was given, if it was converted. */
function givenAmount(value: number, { converted_from: from }: DatedPrice): string {
  return from === null ? "" : ` (${show(Number((value / from.exchange_rate).toPrecision(12)))} ${from.currency})`;
}

function show(value: number): string {
  return String(value);
}
