/** The operation that lists an organization's conversations. */
import { Type } from "typebox";
import { conversationId, tenantFilters, traceTimes } from "./observability.ts";
import { operation, queryBodyBytes } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

export const defaultConversationWindow = "24h";

export const ConversationsQuery = schema(
  Type.Object(
    {
      ...tenantFilters,
      conversation_id: optional(conversationId, "Only this conversation."),
      service_name: optional(
        Type.String({ minLength: 1, maxLength: 256 }),
        "Only conversations with a span of this service.",
      ),
      search: optional(
        Type.String({ minLength: 1, maxLength: 1024 }),
        "Only conversations whose ID contains this text, in upper or lower case.",
      ),
      ...traceTimes(defaultConversationWindow),
      limit: optional(
        Type.Integer({ minimum: 1, maximum: 200 }),
        "Maximum number of conversations, 1 to 200; the most recent are returned. Default 50.",
      ),
      cursor: optional(
        Type.String({ maxLength: 16_384 }),
        'Requests the next page: `next_cursor` of the previous response together with the same filters. "" and null mean the first page.',
      ),
    },
    { additionalProperties: false, description: "A query of conversations." },
  ),
);
export type ConversationsQuery = TypeOf<typeof ConversationsQuery>;

export const Conversations = schema(
  Type.Object(
    {
      data: Type.Array(
        Type.Object(
          {
            id: Type.String({ description: "The conversation's ID." }),
            started_at: Type.String({ description: "Start of the earliest span, an RFC 3339 time." }),
            ended_at: Type.String({ description: "End of the latest span, an RFC 3339 time." }),
            turns: Type.Integer({ description: "Number of traces." }),
            calls: Type.Integer({ description: "Number of model calls." }),
            errors: Type.Integer({ description: "Number of spans whose status is an error." }),
            input_tokens: Type.Integer({ description: "Tokens that models read." }),
            output_tokens: Type.Integer({ description: "Tokens that models generated." }),
            cache_read_tokens: Type.Integer({ description: "Of the input tokens, those read from caches of prompts." }),
            cache_write_tokens: Type.Integer({
              description: "Of the input tokens, those written to caches of prompts.",
            }),
            cost: Type.Union([Type.Number(), Type.Null()], {
              description:
                "Cost of the calls, in the currency of the prices (`telemetry.currency`), without those of models without a price; null if no call has a known cost.",
            }),
            models: Type.Array(
              Type.Object(
                {
                  model: Type.String({ description: "Model ID, as requested." }),
                  calls: Type.Integer({ description: "Number of calls." }),
                  input_tokens: Type.Integer({ description: "Tokens that the model read." }),
                  output_tokens: Type.Integer({ description: "Tokens that the model generated." }),
                  cache_read_tokens: Type.Integer({ description: "Of the input tokens, those read from a cache." }),
                  cache_write_tokens: Type.Integer({ description: "Of the input tokens, those written to a cache." }),
                },
                { description: "The calls of one model." },
              ),
              { description: "The models that the conversation called, in alphabetical order." },
            ),
            projects: Type.Array(Type.String(), { description: "Projects of the spans, in alphabetical order." }),
            services: Type.Array(Type.String(), {
              description: "Services of the spans, in alphabetical order; at most 20.",
            }),
          },
          { description: "A conversation. All numbers are of its traces within the time range." },
        ),
        { description: "The conversations, the most recent first." },
      ),
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description: "The cursor of the next page; null if this is the last page.",
      }),
    },
    { description: "Conversations." },
  ),
);
export type Conversations = TypeOf<typeof Conversations>;

export const queryConversations = operation({
  id: "queryConversations",
  method: "POST",
  path: "/observability/conversations",
  tag: "Observability",
  summary: "List conversations",
  description:
    "Lists the conversations of the key's organization: the traces whose spans have the same `gen_ai.conversation.id`, or else `session.id`. IDs longer than 1,024 bytes are not listed. Parameters may also be sent in the query string; those in the body take precedence.",
  permission: "telemetry_read",
  body: ConversationsQuery,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/json", schema: Conversations, description: "The conversations, most recent first." },
  example: { time_window: "24h", limit: 20 },
});
