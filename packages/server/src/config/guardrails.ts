/** Content checks on prompts and responses and their actions: `guardrails` of the configuration file. */
import { Type, type Static } from "typebox";
import { contentCategories } from "../api/content-categories.ts";
import { sensitiveKinds } from "../sensitive-data/kinds.ts";
import { milliseconds, httpUrl, sendableKey, secret } from "./setting-types.ts";

const action = Type.Enum(["block", "flag", "redact"], {
  default: "block",
  description:
    "`block` refuses the text, `redact` replaces the match, `flag` lets the text pass; all three are recorded.",
});
export type GuardrailAction = Static<typeof action>;

export const sensitiveKind = Type.Enum([...sensitiveKinds], {
  description: "Kind of data that is found by its form and its check digits.",
});

/** Names of what a rule applies to. */
export const namePatterns = (what: string, rule = "rule") =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 512, description: `${what}; \`*\` matches any text.` }), {
      minItems: 1,
      maxItems: 1_000,
      description: `${what} that the ${rule} applies to; \`*\` matches any text. Absent: all.`,
    }),
  );

const atAnyGuardrail = {
  models: namePatterns("Models, by requested ID or by the model behind an alias,", "guardrail"),
  organizations: namePatterns("Organizations", "guardrail"),
  projects: namePatterns("Projects", "guardrail"),
  check: Type.Array(Type.Enum(["input", "output"], { description: "`input`: prompts; `output`: responses." }), {
    minItems: 1,
    maxItems: 2,
    default: ["input", "output"],
    description: "What is checked: prompts (`input`), responses (`output`) or both.",
  }),
  roles: Type.Optional(
    Type.Array(
      Type.Enum(["developer", "system", "user", "assistant", "tool", "function"], {
        description: "Role of a message.",
      }),
      { minItems: 1, maxItems: 6, description: "Roles whose messages are checked in prompts. Absent: all." },
    ),
  ),
  replacement: Type.String({
    maxLength: 100,
    default: "[removed]",
    description: "Text that replaces redacted text.",
  }),
};

const rule = Type.Object(
  {
    category: Type.Enum([...contentCategories], { description: "Category under which a match is recorded." }),
    words: Type.Array(
      Type.String({
        maxLength: 100,
        pattern: "^\\S(?:.*\\S)?$",
        description: "A word or phrase, in any case; it matches whole words only.",
      }),
      { maxItems: 1_000, default: [], description: "Words and phrases, in any case." },
    ),
    patterns: Type.Array(
      Type.String({ minLength: 1, maxLength: 500, description: "A regular expression in RE2 syntax." }),
      { maxItems: 100, default: [], description: "Regular expressions in RE2 syntax; `(?i)` ignores case." },
    ),
    detect: Type.Array(sensitiveKind, {
      maxItems: sensitiveKinds.length,
      default: [],
      description:
        "Personal data and secrets: mail addresses, card numbers, phone numbers, IBANs, keys of known vendors. Streams are held back by the longest match, 1024 characters for `api_key`.",
    }),
    action,
  },
  { description: "Words, patterns and kinds of data of one category." },
);
export type GuardrailRule = Static<typeof rule>;

const rulesGuardrail = Type.Object(
  {
    type: Type.Literal("rules", { description: "Words and patterns, matched by this server." }),
    rules: Type.Array(rule, { minItems: 1, maxItems: 100, description: "What to look for." }),
    max_match_characters: Type.Integer({
      minimum: 1,
      maximum: 2_000,
      default: 200,
      description:
        "Longest match that is guaranteed to be found in streamed or long text. This many characters of a stream are held back.",
    }),
    ...atAnyGuardrail,
  },
  { description: "Words and patterns, matched by this server." },
);
export type RulesGuardrailSettings = Static<typeof rulesGuardrail>;

const moderationGuardrail = Type.Object(
  {
    type: Type.Literal("moderation", { description: "An API like OpenAI's `/v1/moderations`." }),
    base_url: Type.String({
      pattern: httpUrl,
      description: "Address of the API, including the version, such as `https://api.openai.com/v1`.",
    }),
    api_key: Type.Optional(
      secret("Key of the API, sent as `Authorization: Bearer`. Absent: none is sent.", { pattern: sendableKey }),
    ),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: "The moderation model." })),
    categories: Type.Record(
      Type.String(),
      Type.Object(
        {
          threshold: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description:
                "Lowest score that counts as a match. Absent: the endpoint's own verdict (`flagged`) decides.",
            }),
          ),
          action,
        },
        { description: "Action for one category." },
      ),
      {
        minProperties: 1,
        propertyNames: { pattern: `^(?:${contentCategories.join("|")})$` },
        description: `The categories to act on: ${contentCategories.map((each) => `\`${each}\``).join(", ")}.`,
      },
    ),
    timeout_ms: milliseconds(5_000, "Longest wait for a verdict."),
    fail: Type.Enum(["open", "closed"], {
      default: "closed",
      description: "What happens without a verdict: `closed` refuses the call, `open` lets the text pass.",
    }),
    batch_characters: Type.Integer({
      minimum: 20,
      maximum: 10_000,
      default: 400,
      description:
        "Longest piece of a streamed response that is held back and checked as one unit; pieces end at sentence boundaries where possible.",
    }),
    max_connections: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 64,
      description: "Maximum number of requests in flight at the endpoint; more wait.",
    }),
    ...atAnyGuardrail,
  },
  { description: "An API like OpenAI's `/v1/moderations`." },
);
export type ModerationGuardrailSettings = Static<typeof moderationGuardrail>;

const guardrail = Type.Union([rulesGuardrail, moderationGuardrail]);
export type GuardrailSettings = Static<typeof guardrail>;

export const guardrails = Type.Record(Type.String({ minLength: 1, maxLength: 128 }), guardrail, {
  default: {},
  description: "Content checks on the prompts and responses of chat completions, each under a name of your choice.",
});
