/** TraceQL text: generated valid queries, with tokens exchanged, and mutations of their characters. */
import * as fc from "fast-check";
import { printQuery } from "@sounding/traceql/syntax/print";
import { arbitraryMetricsQuery } from "../../packages/traceql/test/support/arbitrary-traceql-metrics.ts";
import { arbitrarySearchQuery } from "../../packages/traceql/test/support/arbitrary-traceql.ts";
import { fieldsOfTraces } from "../../packages/traceql/test/support/arbitrary-traces.ts";
import { hostileString } from "./hostile-values.ts";
import { mutateText } from "./mutate-bytes.ts";
import { mutateTokens } from "./mutate-tokens.ts";
import type { Random } from "./random.ts";

const searches = arbitrarySearchQuery(fieldsOfTraces);
const metrics = arbitraryMetricsQuery(fieldsOfTraces);

const fragments = [
  ...Array.from("(){}[],=~!|&<>^%*+-\"'\\`#\0é.:"),
  "{ }",
  ">>",
  "!<<",
  "&~",
  "&>>",
  "| by(span.code)",
  "| select(span.user, name)",
  "| count() > 1",
  "| coalesce()",
  "| avg(duration) > 1s",
  "| rate() by (name)",
  "| compare({ status = error }, 10, 1, 2)",
  "| quantile_over_time(duration, .5, 2, -1)",
  "| topk(0)",
  "| histogram_over_time(span.code)",
  "with (most_recent=true)",
  "with (exemplars=99999999999)",
  "with (sample=0.5)",
  "parent.span.user",
  "span.`x`",
  'span."a b\\"c"',
  "resource.",
  "event:name",
  "link:traceID",
  "nestedSetLeft",
  "span:parentID",
  "traceDuration",
  "= nil",
  '=~ "((a*)*)*b"',
  '=~ ["a", "b"]',
  "^ 9223372036854775807",
  "% 0",
  "/ 0",
  "9223372036854775808",
  "1e999",
  "99999999h",
  "-1ns",
  "1h1h",
  "9".repeat(400),
  "((((",
  "\uD800",
  "//",
  "true",
  "error",
] as const;
const openings = ["(", "-", "{", "{(", "!", "{}>>", "{}|", "{a=", "{.a&&", "({}+"] as const;

export function traceqlText(random: Random): string {
  const kind = random.below(20);
  if (kind === 0 && random.chance(0.4)) return random.pick(openings).repeat(1 + random.size(20_000));
  const seed = random.uint32();
  const [query] = random.chance(0.5)
    ? fc.sample(searches, { seed, numRuns: 1 })
    : fc.sample(metrics, { seed, numRuns: 1 });
  const text = printQuery(query!);
  if (kind < 7) return text;
  if (kind < 15) return mutateTokens(text, random, fragments);
  if (kind < 17) return text.replace(/"[^"\\]*"/, () => JSON.stringify(hostileString(random, 300)));
  return mutateText(text, random, fragments);
}
