/** Random TraceQL searches and conditions whose fields and values often meet those of `random-spans.ts`. */
import { constantFrom, oneof, tuple } from "fast-check";

const field = constantFrom(
  "name",
  "statusMessage",
  "status",
  "kind",
  "duration",
  "span.one",
  ".one",
  "resource.one",
  ".two.b",
  "span.three",
  "resource.service.name",
  ".service.name",
  "instrumentation.one",
  "event.one",
  "link.one",
  "event:name",
  "instrumentation:name",
  "rootName",
  "nestedSetParent",
  "span:parentID",
);
const value = constantFrom(
  '"a"',
  '"b"',
  '""',
  '"5"',
  '"shop"',
  '"get"',
  '"lost"',
  "5",
  "5.5",
  "-1",
  "true",
  "false",
  "error",
  "unset",
  "server",
  "internal",
  "1s",
  "2ns",
  "nil",
);
const operator = constantFrom("=", "!=", "<", "<=", ">", ">=", "=", "!=");
const pattern = constantFrom('"a|b"', '".*"', '"s.*p"', '"x+"', '"[a-b]"', '"\\\\d"', '"(?i)A"', '"a{1}"');
const comparison = oneof(
  { arbitrary: tuple(field, operator, value).map((parts) => parts.join(" ")), weight: 6 },
  tuple(field, constantFrom("=~", "!~"), pattern).map((parts) => parts.join(" ")),
  tuple(value, operator, field).map((parts) => parts.join(" ")),
);
export const condition = oneof(
  comparison,
  tuple(comparison, constantFrom("&&", "||"), comparison).map(
    ([left, joint, right]) => `(${left}) ${joint} (${right})`,
  ),
  comparison.map((inner) => `!(${inner})`),
);
export const query = oneof(
  condition.map((inner) => `{ ${inner} }`),
  tuple(condition, constantFrom("&&", "||", ">", ">>", "<", "<<", "~", "!>>", "&>>"), condition).map(
    ([left, joint, right]) => `{ ${left} } ${joint} { ${right} }`,
  ),
  condition.map((inner) => `{ ${inner} } | count() > 1`),
);

const group = constantFrom(
  "",
  " by (name)",
  " by (resource.service.name)",
  " by (span.three)",
  " by (.one, status)",
  " by (kind)",
);
const measure = constantFrom(
  "rate()",
  "count_over_time()",
  "sum_over_time(duration)",
  "avg_over_time(duration)",
  "min_over_time(duration)",
  "max_over_time(duration)",
  "quantile_over_time(duration, .5, .9)",
  "histogram_over_time(duration)",
  "sum_over_time(span.one)",
);
export const metricsQuery = tuple(condition, measure, group).map(
  ([inner, aggregate, by]) => `{ ${inner} } | ${aggregate}${by}`,
);
