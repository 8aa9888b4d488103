/** The operation that shows which prices apply to models, and why. */
import { Type, type Static } from "typebox";
import { operation } from "./operation.ts";
import { schema } from "./schema.ts";

const amount = (description: string) => Type.Number({ minimum: 0, description });
const nullable = (description: string) => Type.Union([Type.Number({ minimum: 0 }), Type.Null()], { description });
const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const priceSources = ["organization", "configured", "published", "unknown"] as const;

const tokenRates = Type.Object(
  {
    above: Type.Integer({
      minimum: 0,
      description: "The rates are those of calls with more input tokens than this; 0 for the first ones.",
    }),
    input: amount("Input tokens."),
    output: amount("Output tokens."),
    cache_read: amount("Input tokens that were read from a cache."),
    cache_write: amount("Input tokens that were written to a cache."),
    cache_write_1h: amount("The same for tokens that the cache keeps for an hour."),
    audio_input: amount("Audio tokens of the input."),
    audio_cache_read: amount("Audio tokens that were read from a cache."),
    audio_output: amount("Audio tokens of the output."),
    image_output: amount("Output tokens of images."),
    reasoning: amount("Output tokens of reasoning."),
    citation: amount("Tokens of pages that the model found and read."),
  },
  { description: "Prices of one million tokens." },
);

const datedPrice = Type.Object(
  {
    from: nullableText("First day on which the price holds, in UTC; null if it holds from the beginning."),
    hours: Type.Union(
      [
        Type.Object(
          {
            from: Type.String({ description: "Start, such as `16:30:00`." }),
            to: Type.String({ description: "End; earlier than the start if the hours include midnight." }),
          },
          { description: "Hours of the day, in UTC." },
        ),
        Type.Null(),
      ],
      { description: "Hours of the day when the price holds; null for all." },
    ),
    current: Type.Boolean({ description: "Whether it holds now." }),
    converted_from: Type.Union(
      [
        Type.Object(
          {
            currency: Type.String({ description: "Currency in which the price was given: its code in ISO 4217." }),
            exchange_rate: Type.Number({
              exclusiveMinimum: 0,
              description: "What one unit of it is in the currency of the list; all amounts were multiplied by it.",
            }),
          },
          { description: "How the price was converted." },
        ),
        Type.Null(),
      ],
      { description: "How the price was converted; null if it was given in the currency of the list." },
    ),
    tokens: Type.Array(tokenRates, { description: "By the number of input tokens; empty if tokens have no price." }),
    service_tiers: Type.Record(Type.String(), Type.Array(tokenRates), {
      description: "The same for calls that the vendor processed in a service tier, by its name.",
    }),
    characters: nullable("One million characters of text to speak."),
    audio_minute: nullable("One minute of audio, transcribed or spoken."),
    request: nullable("One call, in addition to what it uses."),
    web_searches: nullable("One thousand searches of the web."),
  },
  { description: "A price and when it holds; the last one that holds counts." },
);
export type DatedPriceObject = Static<typeof datedPrice>;

const price = Type.Object(
  {
    object: Type.Literal("price", { description: "Always `price`." }),
    model: Type.String({ description: "Model ID." }),
    engine: Type.String({ description: "The engine that the price is for; a model can have several." }),
    engine_model: Type.String({ description: "The model's name at the engine." }),
    source: Type.Enum([...priceSources], {
      description:
        "`organization`: by `telemetry.organization_prices`, for the caller's organization; `configured`: by `telemetry.token_prices`; `published`: by the model's vendor; `unknown`: calls have no cost.",
    }),
    name: nullableText(
      "The name under `telemetry.organization_prices` or `telemetry.token_prices`, or the vendor and its name of the model; null if the price is unknown.",
    ),
    reason: nullableText("Why the price is unknown; otherwise null."),
    prices: Type.Array(datedPrice, {
      description: "The prices in the order of their days; empty if they are unknown.",
    }),
  },
  { description: "What a model costs at one engine." },
);
export type PriceObject = Static<typeof price>;

export const PriceList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      currency: Type.String({ description: "Currency of all prices: its code in ISO 4217." }),
      published: Type.Union(
        [
          Type.Object(
            {
              version: Type.String({ description: "Release of genai-prices." }),
              date: Type.String({ description: "Day of the release." }),
            },
            { description: "A table of published prices." },
          ),
          Type.Null(),
        ],
        { description: "The table of published prices; null if they do not count." },
      ),
      data: Type.Array(price, { description: "The prices, sorted by model." }),
    },
    { description: "Prices." },
  ),
);

export const listPrices = operation({
  id: "listPrices",
  method: "GET",
  path: "/v1/prices",
  tag: "Models",
  summary: "List which prices apply to the models that the key's organization may call, and why",
  permission: "models_read",
  queryParameters: { model: "Only this model, or the model behind this alias." },
  answer: { type: "application/json", schema: PriceList, description: "The prices." },
});
