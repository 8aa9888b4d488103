/** LogQL text: generated valid queries, with tokens exchanged, and mutations of their characters. */
import * as fc from "fast-check";
import { printLogql } from "@sounding/logql/syntax/print";
import type { LogVocabulary } from "../../packages/logql/test/support/arbitrary-log-query.ts";
import { arbitraryLogql } from "../../packages/logql/test/support/arbitrary-logql.ts";
import { hostileString } from "./hostile-values.ts";
import { mutateText } from "./mutate-bytes.ts";
import { mutateTokens } from "./mutate-tokens.ts";
import type { Random } from "./random.ts";

/** Names the labels of the fuzzed server's data, and those of the engine's target. */
const vocabulary: LogVocabulary = {
  streamLabels: { app: ["a", "b", 'q"'], service_name: ["fuzz", "unknown_service"], level: ["info", "error"] },
  metadata: { trace_id: ["0a1b", ""], a: ["1", "x"] },
  lines: [
    {
      format: "json",
      words: ["GET", "é", "error"],
      fields: { status: "number", took: "duration", ip: "address", size: "bytes" },
    },
    { format: "logfmt", words: ["level=info", "a=", "#"], fields: { size: "bytes", a: "number", level: "text" } },
    {
      format: "text",
      words: ["timeout", "<_>", "GET"],
      patterns: ["<a> <_> <b>", "<_>=<a>"],
      expressions: ["(?P<a>\\w+)", "(?P<a>.*?)=(?P<b>(a|b)*)"],
      fields: { a: "number", b: "text" },
    },
  ],
};
const queries = arbitraryLogql(vocabulary);

const templates = [
  "{{.a}}",
  "{{ range $i, $x := fromJson __line__ }}{{ $x }}{{ end }}",
  '{{ regexReplaceAll "(a*)*b" .b "${1}" }}',
  '{{ repeat 100000 "x" }}',
  '{{ repeat 1000 (repeat 1000 "x") }}',
  '{{ repeat -1 "x" }}',
  '{{ printf "%0999999999d" 1 }}',
  '{{ printf "%[5]*.[2]*[1]f" 1 2 3 }}',
  '{{ __timestamp__ | date "2006-01-02T15:04:05.000000000Z07:00 MST" }}',
  '{{ unixToTime "999999999999999999" }}',
  '{{ div 1 0 }}{{ mod 1 0 }}{{ int "9223372036854775808" }}',
  "{{ substr 5 1 .a }}{{ trunc -99999999999 .a }}",
  '{{ with .a }}{{ . }}{{ else }}{{ define "x" }}{{ end }}{{ end }}',
  '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}',
  "{{ toDateInZone `2006` `Not/AZone` .a | unixEpoch }}",
  "{{ alignLeft 1000000000 .a }}{{ indent 99999999 .a }}",
  "{{ if and (eq .a .b) (lt 1 `x`) }}y{{ end }}",
  "{{ index .a 5 }}{{ slice .a 3 1 }}{{ len .b }}",
  "{{ bytes .size }}{{ duration .took }}{{ floor .a }}",
  "{{ b64dec .a }}{{ urldecode .b }}{{ sha1sum .b }}",
] as const;
const fragments = [
  ...Array.from("(){}[],=~!|\"'\\`#\0é$<>_"),
  "| json",
  '| json x="a[9999999999].b[\\"c\\"]"',
  "| logfmt --strict --keep-empty",
  "| unpack",
  "| decolorize",
  "| unwrap duration(took)",
  '| regexp "(?P<a>(x+x+)+y)"',
  '| regexp "(?P<a>a{1000}a{1000})"',
  '| pattern "<a><b>"',
  '|= ip("::ffff:10.0.0.0/200")',
  '|~ "((a*)*)*b"',
  '|> "<_><_>"',
  "| __error__=``",
  "[1y]",
  "[0s]",
  "[5m] offset -300y",
  "@ 1",
  "offset",
  "by (",
  "on(",
  "group_left",
  "((((",
  "/*",
  "//",
  "9".repeat(400),
  "1e999",
  "1.5.5h",
  "-5m",
  "10XB",
  "\uD800",
  "variants(count_over_time({a=`b`}[1m])) of ({a=`b`}[1m])",
] as const;
const openings = ["(", "-", "sum(", "{", "1+", "vector(1)+", '{a="b"}|', "a=`", "{{", "/*"] as const;

export function logqlText(random: Random): string {
  const kind = random.below(20);
  if (kind === 0) {
    const text = random.chance(0.8) ? random.pick(templates) : mutateText(random.pick(templates), random, templates);
    return `{app=~".+"} | logfmt | ${random.pick(["line_format ", "label_format x="])}${JSON.stringify(text)}`;
  }
  if (kind === 1 && random.chance(0.2)) return random.pick(openings).repeat(1 + random.size(20_000));
  const [query] = fc.sample(queries, { seed: random.uint32(), numRuns: 1 });
  const text = printLogql(query!);
  if (kind < 8) return text;
  if (kind < 15) return mutateTokens(text, random, fragments);
  if (kind < 17) return text.replace(/"[^"\\]*"/, () => JSON.stringify(hostileString(random, 300)));
  return mutateText(text, random, fragments);
}

export function logSelector(random: Random): string {
  const selector = random.pick([
    '{app="a"}',
    '{app=~".+"}',
    '{service_name=~"fuzz|x"}',
    '{app="a", level!="x"}',
    "{}",
    "",
  ]);
  if (random.chance(0.6)) return selector;
  return random.chance(0.5) ? mutateText(selector, random, fragments) : logqlText(random);
}
