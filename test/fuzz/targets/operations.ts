/** Every operation of the API over HTTP: bodies near their schemas, hostile parameters, hostile headers. */
import { operations } from "../../../packages/server/src/api/index.ts";
import type { Operation } from "../../../packages/server/src/api/operation.ts";
import type { FieldSchema } from "../../../scripts/field-limits.ts";
import { hostileString, hostileValue } from "../hostile-values.ts";
import { encodeBody, inUrl, requestHeaders, writeMessage } from "../http-message.ts";
import { jsonText, mutateJson } from "../mutate-json.ts";
import { promqlSteps, promqlText, promqlTimes, seriesSelector } from "../promql-text.ts";
import type { Random } from "../random.ts";
import { schemaValue } from "../schema-values.ts";
import type { ServedTarget } from "../target.ts";

/** OTLP and uploads have their own targets. */
const own = operations.filter(({ path, form }) => form === undefined && !/^\/v1\/(?:traces|logs|metrics)$/.test(path));

const parameterValues: Readonly<Record<string, (random: Random) => string>> = {
  query: promqlText,
  "match[]": seriesSelector,
  time: (random) => random.pick(promqlTimes),
  start: (random) => random.pick(promqlTimes),
  end: (random) => random.pick(promqlTimes),
  step: (random) => random.pick(promqlSteps),
  timeout: (random) => random.pick(["1s", "30s", "0", "-1s", "1ns", "100y"]),
  limit: (random) => random.pick(["0", "1", "5", "100", "101", "-1", "1e9", "x"]),
  model: (random) => random.pick(["flite", "sounding-trial", "espeak"]),
  language: (random) => random.pick(["en", "en-US", "xx"]),
  include_archived: (random) => random.pick(["true", "false", "1"]),
  name: (random) => random.pick(["job", "l0", "__name__", "a:b", "fuzz"]),
  metric: (random) => random.pick(["fuzz_gauge", "nothing"]),
};
const identifiers = ["org_", "proj_", "key_"].map((prefix) => `${prefix}${"0123456789abcdef".repeat(2)}`);

function parameter(random: Random, name: string): string {
  const known = parameterValues[name];
  if (known !== undefined && random.chance(0.8)) return known(random);
  return /(?:_id|after)$/.test(name) && random.chance(0.6) ? random.pick(identifiers) : hostileString(random, 2000);
}

function pathOf(operation: Operation, random: Random): string {
  const path = operation.path.replaceAll(/\{\+?(\w+)\}/g, (_, name: string) => inUrl(random, parameter(random, name)));
  return random.chance(0.99) ? path : path + random.pick(["/", "//", "/%2e%2e/", ";x", "/..", "%00", "/x"]);
}

function queryOf(operation: Operation, random: Random): string {
  const { queryParameters = {}, queryAsBody, body } = operation;
  const schema: FieldSchema | undefined = body?.json;
  const fromBody = queryAsBody === true ? Object.keys(schema?.properties ?? {}) : [];
  const pairs: string[] = [];
  for (const name of Object.keys(queryParameters)) {
    const copies = random.chance(0.75) ? 1 : random.chance(0.1) ? random.size(60) : random.chance(0.2) ? 2 : 0;
    for (let copy = 0; copy < copies; copy += 1) pairs.push(`${name}=${inUrl(random, parameter(random, name))}`);
  }
  for (const name of fromBody) if (random.chance(0.05)) pairs.push(`${name}=${inUrl(random, parameter(random, name))}`);
  if (random.chance(0.05))
    pairs.push(`${inUrl(random, hostileString(random, 100))}=${inUrl(random, hostileString(random, 100))}`);
  // A request line beyond the limit on headers is a separate test.
  const text = pairs.join("&");
  return text === ""
    ? ""
    : `?${text.length > 12_000 && random.chance(0.95) ? text.slice(0, 12_000).replace(/%.?$/, "") : text}`;
}

function bodyOf(operation: Operation, random: Random): unknown {
  const { body, example } = operation;
  let value = example !== undefined && random.chance(0.4) ? example : schemaValue(body?.json ?? {}, random);
  if (random.chance(0.05)) return hostileValue(random, 5);
  // The answer's length is not under test.
  if (operation.id === "createChatCompletion") value = { max_tokens: 8, ...(value as object) };
  value = mutateJson(value, random, random.size(4));
  return value;
}

/** Large bodies, which can block a thread: many members, long lists, long strings. */
function largeBody(random: Random): string {
  const count = random.pick([10_000, 100_000, 400_000]);
  const item = random.pick(["1", "null", '""', "{}", '{"role":"user","content":"x"}', "[[]]"]);
  switch (random.below(5)) {
    case 0:
      return `{"model":"sounding-trial","max_tokens":1,"messages":[${Array(count).fill(item).join(",")}]}`;
    case 1:
      return `{${Array.from({ length: count }, (_, index) => `"k${index}":${item}`).join(",")}}`;
    case 2:
      return `{"model":"sounding-trial","max_tokens":1,"messages":[{"role":"user","content":"${"word ".repeat(count)}"}]}`;
    case 3:
      return `{"model":"sounding-trial","messages":[{"role":"user","content":"x"}],"extra_body":{${Array.from({ length: count }, (_, index) => `"k${index}":${item}`).join(",")}}}`;
    default:
      return "[".repeat(count);
  }
}

function generate(random: Random): Buffer {
  const operation = random.pick(own);
  const isForm = operation.rawBody !== undefined;
  const contentType =
    operation.body !== undefined ? "application/json" : isForm ? "application/x-www-form-urlencoded" : undefined;
  const headers = requestHeaders(random, contentType, operation.permission === "admin" ? "{admin}" : "{key}");
  const query = queryOf(operation, random);
  let body: Buffer = Buffer.alloc(0);
  if (operation.body !== undefined) {
    const text = random.chance(0.002) ? largeBody(random) : jsonText(bodyOf(operation, random), random);
    body = encodeBody(random, headers, Buffer.from(text));
  } else if (isForm) body = encodeBody(random, headers, Buffer.from(query.slice(1)));
  const method = random.chance(0.99)
    ? operation.method
    : random.pick(["PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "GET", "POST"]);
  return writeMessage({ method, path: pathOf(operation, random) + (isForm ? "" : query), headers, body });
}

export const operationsTarget: ServedTarget = {
  kind: "served",
  name: "operations",
  perSecond: 150,
  transport: "http1",
  share: 3,
  serverErrors: [502, 504],
  generate,
};
