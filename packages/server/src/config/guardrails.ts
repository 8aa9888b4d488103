/** What prompts and answers are checked for, by whom, and what follows: `guardrails` of the configuration file. */
import { Type, type Static } from "typebox";
import { contentCategories } from "../api/content-categories.ts";
import { milliseconds, httpUrl, sendableKey, secret } from "./setting-types.ts";

const action = Type.Enum(["block", "flag", "redact"], {
  default: "block",
  description: "`block` refuses, `redact` replaces the text, `flag` lets it pass; all three are recorded.",
});
export type GuardrailAction = Static<typeof action>;

const names = (what: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 512, description: `${what}; \`*\` stands for any text.` }), {
      minItems: 1,
      maxItems: 1_000,
      description: `${what} to which it applies; \`*\` stands for any text. Absent: all.`,
    }),
  );

const atAnyGuardrail = {
  models: names("Models, by the ID that was asked for or the model behind an alias,"),
  organizations: names("Organizations"),
  projects: names("Projects"),
  check: Type.Array(Type.Enum(["input", "output"], { description: "Prompts or answers." }), {
    minItems: 1,
    maxItems: 2,
    default: ["input", "output"],
    description: "Whether prompts (`input`), answers (`output`) or both are checked.",
  }),
  roles: Type.Optional(
    Type.Array(
      Type.Enum(["developer", "system", "user", "assistant", "tool", "function"], { description: "Who speaks." }),
      { minItems: 1, maxItems: 6, description: "Whose messages of a prompt are checked. Absent: everybody's." },
    ),
  ),
  replacement: Type.String({
    maxLength: 100,
    default: "[removed]",
    description: "What stands in place of redacted text.",
  }),
};

const rule = Type.Object(
  {
    category: Type.Enum([...contentCategories], { description: "What a match is counted as." }),
    words: Type.Array(
      Type.String({
        maxLength: 100,
        pattern: "^\\S(?:.*\\S)?$",
        description: "A word or a phrase, whatever its case; letters next to it make it another word.",
      }),
      { maxItems: 1_000, default: [], description: "Words and phrases, whatever their case." },
    ),
    patterns: Type.Array(
      Type.String({ minLength: 1, maxLength: 500, description: "A regular expression in RE2's syntax." }),
      { maxItems: 100, default: [], description: "Regular expressions in RE2's syntax; `(?i)` ignores case." },
    ),
    action,
  },
  { description: "Words and patterns of one category." },
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
        "Longest match of a pattern that is sure to be found in a streamed or a long text. As much of a stream is held back.",
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
      description: "Address of the API, version included, such as `https://api.openai.com/v1`.",
    }),
    api_key: Type.Optional(
      secret("Key of the API, sent as `Authorization: Bearer`. Absent: none is sent.", { pattern: sendableKey }),
    ),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: "The model that judges." })),
    categories: Type.Record(
      Type.String(),
      Type.Object(
        {
          threshold: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description: "Least score that counts. Absent: where the endpoint itself says that the text is flagged.",
            }),
          ),
          action,
        },
        { description: "What follows for a category." },
      ),
      {
        minProperties: 1,
        propertyNames: { pattern: `^(?:${contentCategories.join("|")})$` },
        description: `The categories that count: ${contentCategories.map((each) => `\`${each}\``).join(", ")}.`,
      },
    ),
    timeout_ms: milliseconds(5_000, "Longest wait for a judgement."),
    fail: Type.Enum(["open", "closed"], {
      default: "closed",
      description: "When there is no judgement: `closed` refuses the call, `open` lets the text pass.",
    }),
    batch_characters: Type.Integer({
      minimum: 20,
      maximum: 10_000,
      default: 400,
      description:
        "Longest piece of a streamed answer that is held back and judged at once; pieces end at sentences where they can.",
    }),
    max_connections: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 64,
      description: "Requests in flight at the endpoint; a further one waits.",
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
  description: "What prompts and answers of chats are checked for, by a name of your choice; see guardrails.md.",
});
