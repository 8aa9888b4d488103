/** What models cost: `telemetry.token_prices`, `telemetry.published_prices` and `telemetry.currency`. */
import { Type, type Static } from "typebox";

const amount = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 1e9, description }));

const rates = {
  input: amount("Price of one million input tokens."),
  output: amount("Price of one million output tokens."),
  cache_read: amount(
    "Price of one million input tokens that were read from a cache. Absent: the share of `input` that the vendor publishes for the model, else `input`.",
  ),
  cache_write: amount("Price of one million input tokens that were written to a cache. Absent: as for `cache_read`."),
  cache_write_1h: amount(
    "The same for tokens that the cache keeps for an hour. Absent: as for `cache_read`; if no vendor publishes it, `cache_write`.",
  ),
  audio_input: amount("Price of one million audio tokens of the input. Absent: as for `cache_read`."),
  audio_cache_read: amount(
    "Price of one million audio tokens that were read from a cache. Absent: as for `cache_read`.",
  ),
  audio_output: amount(
    "Price of one million audio tokens of the output. Absent: the share of `output` that the vendor publishes, else `output`.",
  ),
  image_output: amount("Price of one million output tokens of images. Absent: as for `audio_output`."),
  reasoning: amount("Price of one million output tokens of reasoning. Absent: as for `audio_output`."),
  citation: amount(
    "Price of one million tokens of pages that the model found and read, which Perplexity counts. Absent: as for `audio_output`.",
  ),
};

const tier = Type.Object(
  {
    above: Type.Integer({
      minimum: 1,
      maximum: 1e9,
      description:
        "The prices are those of calls with more input tokens than this, cached ones included; they hold for all tokens of the call.",
    }),
    ...rates,
  },
  { description: "Prices of calls with long prompts. What is absent keeps its share of `input` or `output`." },
);

const serviceTier = Type.Object(rates, {
  description: "Prices of calls in a service tier. What is absent keeps its share of `input` or `output`.",
});

const members = {
  ...rates,
  service_tiers: Type.Optional(
    Type.Record(Type.String({ pattern: "^[a-z][a-z0-9_]{0,31}$" }), serviceTier, {
      maxProperties: 8,
      description:
        "Other prices for calls that the vendor processed in a service tier, by its name in answers, such as `flex`, `priority` or `batch`. Absent: the same prices.",
    }),
  ),
  tiers: Type.Optional(
    Type.Array(tier, {
      maxItems: 20,
      description:
        "Other prices for long prompts. Absent: those that the vendor publishes, if `input` and `output` are absent too; else none.",
    }),
  ),
  characters: amount("Price of one million characters of text to speak."),
  audio_minute: amount(
    "Price of one minute of audio: of recordings to transcribe if the engine reports no tokens, or of speech if `characters` is absent.",
  ),
  request: amount("Price of one call, in addition to what it uses."),
  web_searches: amount("Price of one thousand searches that the vendor makes for a call."),
};

const change = Type.Object(
  {
    from: Type.String({
      pattern: "^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])$",
      description: "First day on which the prices hold, such as `2027-01-01`, in UTC.",
    }),
    ...members,
  },
  { description: "Prices from a day on. What is absent stays as it was." },
);

const price = Type.Object(
  {
    ...members,
    input: amount("Price of one million input tokens. Absent: what the model's vendor publishes."),
    output: amount("Price of one million output tokens. Absent: what the model's vendor publishes."),
    currency: Type.Optional(
      Type.String({
        pattern: "^[A-Z]{3}$",
        description:
          "Currency of these prices: its code in ISO 4217. Absent: `telemetry.currency`. Another one needs a rate in `telemetry.exchange_rates`.",
      }),
    ),
    published: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "The vendor's name of the model, for published prices, such as `claude-sonnet-4-5` or `groq/llama-3.3-70b-versatile`. Absent: the model ID.",
      }),
    ),
    changes: Type.Optional(
      Type.Array(change, { maxItems: 100, description: "Prices from later days on, in the order of their days." }),
    ),
  },
  {
    description:
      "Prices of one model. `input` and `output` that are absent are those that the model's vendor publishes; if no vendor does, set both, or one of `characters`, `audio_minute` and `request`.",
  },
);

export const tokenPrices = Type.Record(Type.String({ minLength: 1 }), price, {
  default: {},
  maxProperties: 1000,
  description:
    "Prices by model ID, or by `engine/model` for what one engine charges, in the currency of `telemetry.currency` unless they name another. They take precedence over published ones.",
});
export type TokenPrices = Static<typeof tokenPrices>;
export type ConfiguredPrice = TokenPrices[string];
export type PriceMembers = Omit<Static<typeof change>, "from">;

export const organizationPrices = Type.Record(
  Type.String({ minLength: 1 }),
  Type.Record(Type.String({ minLength: 1 }), price, {
    maxProperties: 1000,
    description: "Prices of this organization's calls: by model ID, or by `engine/model`.",
  }),
  {
    default: {},
    maxProperties: 1000,
    description:
      "Prices that hold for one organization, by its name or identifier, in the form of `token_prices`. They take precedence over `token_prices`; a model without one has the price of everyone else.",
  },
);
export type OrganizationPrices = Static<typeof organizationPrices>;

export const publishedPrices = Type.Boolean({
  default: true,
  description:
    "Take the prices that vendors publish for models without configured ones, from a table that is part of this version, without any request. They hold for engines whose vendor is known by type and address, and are in US dollars. If false, or if `currency` is another one and `exchange_rates` has no `USD`, only `token_prices` count.",
});

export const currency = Type.String({
  pattern: "^[A-Z]{3}$",
  default: "USD",
  description: "Currency of all costs, and of prices that name no other: its code in ISO 4217.",
});

export const exchangeRates = Type.Record(
  Type.String({ pattern: "^[A-Z]{3}$" }),
  Type.Number({ exclusiveMinimum: 0, maximum: 1e9 }),
  {
    default: {},
    maxProperties: 200,
    description:
      "What one unit of other currencies is in the currency of `telemetry.currency`, by their code, such as `EUR: 1.08`. Prices in these currencies are converted when the server starts.",
  },
);
