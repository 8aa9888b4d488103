/** JSON schemas of structured output and tools: sent to the trial model, and directly to the grammar. */
import { AppError } from "../../../packages/server/src/errors.ts";
import { createMatcher } from "../../../packages/server/src/engines/llama-cpp/grammar/matcher.ts";
import { schemaGrammar } from "../../../packages/server/src/engines/llama-cpp/grammar/json-schema.ts";
import { hostileString } from "../hostile-values.ts";
import { writeMessage } from "../http-message.ts";
import { jsonText, mutateJson } from "../mutate-json.ts";
import type { Random } from "../random.ts";
import type { DirectTarget, ServedTarget } from "../target.ts";

const patterns = [
  "^a+$",
  "[0-9]{1,20}",
  "(a|b)*c",
  "^(((a?){10}){10}){10}$",
  "\\p{L}",
  "(?=x)y",
  "a{0,500}",
  "[",
  ".",
] as const;

function schemaOf(random: Random, depth: number): unknown {
  const inner = (): unknown => schemaOf(random, depth - 1);
  const many = (most: number): number => (random.chance(0.02) ? random.size(2000) : random.size(most));
  switch (random.below(depth > 0 ? 12 : 5)) {
    case 0:
      return {
        type: "string",
        ...(random.chance(0.4) ? { pattern: random.pick(patterns) } : {}),
        ...(random.chance(0.3) ? { minLength: random.size(50), maxLength: random.size(5000) } : {}),
      };
    case 1:
      return {
        type: random.pick(["integer", "number"]),
        ...(random.chance(0.5) ? { minimum: random.between(-1e6, 10), maximum: random.size(1e9) } : {}),
      };
    case 2:
      return { type: random.pick(["boolean", "null", ["string", "null"]]) };
    case 3:
      return {
        enum: Array.from({ length: many(6) }, (_, index) => (random.chance(0.5) ? index : hostileString(random, 60))),
      };
    case 4:
      return random.pick([
        { $ref: "#" },
        { $ref: "#/$defs/a" },
        { $ref: "#/$defs/b" },
        { $ref: "#/nothing" },
        true,
        {},
      ]);
    case 5:
    case 6:
      return {
        type: "array",
        items: inner(),
        ...(random.chance(0.5) ? { minItems: random.size(5), maxItems: random.size(300) } : {}),
      };
    case 7:
      return { [random.pick(["anyOf", "oneOf", "allOf"])]: Array.from({ length: 1 + many(8) }, inner) };
    default: {
      const names = Array.from({ length: many(6) }, (_, index) =>
        random.chance(0.9) ? `m${index}` : hostileString(random, 30),
      );
      return {
        type: "object",
        properties: Object.fromEntries(names.map((name) => [name, inner()])),
        ...(random.chance(0.6) ? { required: names.filter(() => random.chance(0.7)) } : {}),
        ...(random.chance(0.5) ? { additionalProperties: false } : {}),
      };
    }
  }
}

function anySchema(random: Random): unknown {
  const schema = {
    ...(schemaOf(random, 4) as object),
    ...(random.chance(0.3) ? { $defs: { a: schemaOf(random, 2), b: schemaOf(random, 3) } } : {}),
  };
  return random.chance(0.3) ? mutateJson(schema, random, 1) : schema;
}

export const chatSchemasTarget: ServedTarget = {
  kind: "served",
  name: "chat-schemas",
  perSecond: 60,
  transport: "http1",
  generate(random) {
    const schema = anySchema(random);
    const shape = random.chance(0.6)
      ? { response_format: { type: "json_schema", json_schema: { name: "fuzz", strict: random.chance(0.8), schema } } }
      : {
          tools: [{ type: "function", function: { name: "fuzz", strict: random.chance(0.8), parameters: schema } }],
          tool_choice: random.pick(["auto", "required"]),
        };
    const body = {
      model: "sounding-trial",
      max_tokens: 8,
      stream: random.chance(0.3),
      messages: [{ role: "user", content: "Hi" }],
      ...shape,
    };
    const headers = [
      ["authorization", "Bearer {key}"],
      ["content-type", "application/json"],
    ] as const;
    return writeMessage({
      method: "POST",
      path: "/v1/chat/completions",
      headers,
      body: Buffer.from(jsonText(body, random)),
    });
  },
};

/** The grammar is compiled in the model's process, so the bound limits the work, not the server's thread. */
export const schemaGrammarTarget: DirectTarget = {
  kind: "direct",
  name: "schema-grammar",
  perSecond: 600,
  holdMs: 2000,
  generate: (random) => Buffer.from(JSON.stringify(anySchema(random)) ?? "null"),
  run(input) {
    const schema = JSON.parse(Buffer.from(input).toString("utf8")) as Parameters<typeof schemaGrammar>[0];
    try {
      createMatcher(schemaGrammar(schema, "schema", true));
      return "compiled";
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return String(error.status);
      throw error;
    }
  },
};
