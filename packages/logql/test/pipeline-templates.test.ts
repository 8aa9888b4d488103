/** Stages that change lines and labels: templates, decolorize, drop and keep. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { QueryError } from "@sounding/promql/query-error";
import { compilePipeline } from "../src/pipeline/pipeline.ts";
import type { Stage } from "../src/syntax/ast.ts";
import { at, extract, labelsOf, parsePipeline, run } from "./pipeline-stages.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const entry = {
  line: "the line",
  unixNano: 1_699_956_862_123_456_789n,
  stream: { app: "API", level: "error" },
  metadata: { n: "12", f: "1.5", s: "a b", json: '{"a":{"b":[1,"x",null,true]},"c":2.5}' },
};

const lineFormat = (template: string): Stage => ({ kind: "line-format", template, at });

function format(template: string): string {
  const output = run([lineFormat(template)], entry)!;
  assert.equal(output.get("__error_details__"), "", template);
  return output.line;
}

describe("templates", () => {
  const cases: [template: string, text: string][] = [
    ["{{.app}}", "API"],
    ["{{.missing}}", ""],
    ["a {{.app}} b {{ .level }}", "a API b error"],
    ["a {{- .app -}} b", "aAPIb"],
    ["{{/* comment */}}x{{- /* trims */ -}} y", "xy"],
    ["{{.app | lower | printf `%s!`}}", "api!"],
    ["{{ToUpper .level}} {{ToLower .app}}", "ERROR api"],
    ["{{if eq .level `error`}}E{{else if .app}}A{{else}}N{{end}}", "E"],
    ["{{if .missing}}E{{else if .app}}A{{else}}N{{end}}", "A"],
    ["{{with .app}}{{.}}{{$.level}}{{end}}{{with .missing}}x{{else}}none{{end}}", "APIerrornone"],
    ["{{$x := .app}}{{$x}}{{if true}}{{$x = `y`}}{{end}}{{$x}}", "APIy"],
    ["{{range $i, $e := (fromJson .json).a.b}}{{$i}}={{$e}};{{end}}", "0=1;1=x;2=<no value>;3=true;"],
    ["{{range 3}}{{.}}{{end}}", "012"],
    [
      "{{range (fromJson `[1,2,3,4]`)}}{{if eq . 3.0}}{{break}}{{end}}{{if eq . 1.0}}{{continue}}{{end}}{{.}}{{end}}",
      "2",
    ],
    ["{{range fromJson `[]`}}x{{else}}empty{{end}}", "empty"],
    ["{{(fromJson .json).c}} {{(fromJson .json).zz}}", "2.5 <no value>"],
    ["{{and .app .level}} {{or .missing .level}} {{not .app}}", "error error false"],
    [
      "{{eq .level `a` `error`}} {{ne 1 2}} {{lt 1 2}} {{ge `b` `a`}} {{gt 1.5 1.0}} {{le 2 2}}",
      "true true true true true true",
    ],
    ["{{len .app}} {{len `é`}} {{index (fromJson `[5,6]`) 1}} {{slice .app 1 3}} {{index . `app`}}", "3 2 6 PI API"],
    ["{{print 1 2 `a` `b` 3}}|{{println `x` 1}}", "1 2ab3|x 1\n"],
    ["{{html `<a>&'`}} {{js `'x'`}} {{urlquery `a b&`}}", String.raw`&lt;a&gt;&amp;&#39; \'x\' a+b%26`],
    [
      "{{__line__}} {{__timestamp__ | unixEpoch}} {{unixEpochMillis __timestamp__}}",
      "the line 1699956862 1699956862123",
    ],
    ["{{__timestamp__ | date `2006-01-02T15:04:05.000Z07:00`}}", "2023-11-14T10:14:22.123Z"],
    ["{{__timestamp__}}", "2023-11-14 10:14:22.123456789 +0000 UTC"],
    ["{{date `Mon Jan _2 3:04PM 06 .99 MST -0700` __timestamp__}}", "Tue Nov 14 10:14AM 23 .12 UTC +0000"],
    ["{{toDate `2006-01-02` `2024-02-29` | unixEpoch}}", "1709164800"],
    ["{{toDateInZone `2006-01-02 15:04` `Europe/Paris` `2024-07-01 12:00` | unixEpoch}}", "1719828000"],
    ["{{toDate `2006-01-02T15:04:05Z07:00` `2024-01-01T00:00:00.5+01:00` | unixEpochNanos}}", "1704063600500000000"],
    ["{{toDate `2006` `x`}}", "0001-01-01 00:00:00 +0000 UTC"],
    ["{{unixToTime `1699956862123` | date `15:04:05.000`}}", "10:14:22.123"],
    ["{{duration `1m30s`}} {{duration_seconds `250ms`}} {{bytes `1KiB`}}", "90 0.25 1024"],
    ["{{trunc 2 .app}} {{trunc -2 .app}} {{substr 1 2 .app}} {{substr 1 -1 .app}}", "AP PI P PI"],
    ["{{alignLeft 5 .app}}|{{alignRight 5 .app}}|{{alignLeft 2 .app}}|{{alignRight 2 .app}}", "API  |  API|AP|PI"],
    ["{{trim ` x `}}{{trimAll `$` `$x$`}}{{trimPrefix `a` `ab`}}{{trimSuffix `b` `ab`}}{{Trim `xax` `x`}}", "xxbaa"],
    ["{{replace `a` `b` `aa`}} {{Replace `aaa` `a` `b` 2}} {{repeat 3 `ab`}}", "bb bba ababab"],
    ["{{title `hello new-world 1st`}}", "Hello New-World 1st"],
    ["{{indent 2 `a\nb`}}|{{nindent 1 `a`}}", "  a\n  b|\n a"],
    ["{{contains `b` .s}} {{hasPrefix `a` .s}} {{hasSuffix `x` .s}}", "true true false"],
    ["{{regexReplaceAll `(a+)(b)` `aab ab` `$2${1}$3$$`}}", "baa$ ba$"],
    ["{{regexReplaceAllLiteral `a*` `baac` `$1`}} {{count `a+` `aa b a`}}", "$1b$1c$1 2"],
    [
      "{{urlencode `a b/ü`}} {{urldecode `a+b%2F%C3%BC`}} {{b64enc `hi`}} {{b64dec `aGk`}}",
      "a+b%2F%C3%BC a b/ü aGk= hi",
    ],
    ["{{default `d` .missing}} {{default `d` .app}} {{.missing | default `p`}}", "d API p"],
    ["{{add .n 3 -1}} {{sub 5 .n}} {{mul 2 3 4}} {{div 7 2}} {{mod -7 3}}", "14 -7 24 3 -1"],
    ["{{addf 0.1 0.2}} {{subf 1 0.9}} {{mulf 1.1 1.1}} {{divf 1 3}}", "0.3 0.1 1.21 0.3333333333333333"],
    ["{{max 1 .n 3}} {{min 4 2}} {{maxf 1.5 .f 2}} {{minf 3 .f}}", "12 2 2 1.5"],
    [
      "{{ceil .f}} {{floor .f}} {{round 3.14159 2}} {{round -1.5 0}} {{int `0x10`}} {{int 3.9}} {{float64 .f}}",
      "2 1 3.14 -2 16 3 1.5",
    ],
    ["{{float64 1e21}} {{float64 `123456789`}} {{mulf 1.0 0.00001}}", "1e+21 1.23456789e+08 1e-05"],
    [
      "{{printf `%5d|%-5d|%05d|%+d|%x|%X|%o|%b|%c|%q|%U` 42 42 -42 42 255 255 8 5 65 65 65}}",
      "   42|42   |-0042|+42|ff|FF|10|101|A|'A'|U+0041",
    ],
    [
      "{{printf `%.2f|%8.3f|%e|%g|%v|%6.1f%%` 3.14159 2.5 12345.678 1e6 1e6 99.5}}",
      "3.14|   2.500|1.234568e+04|1e+06|1e+06|  99.5%",
    ],
    [
      '{{printf `%s|%10s|%-10s|%.2s|%q|%x|%t|%v` `a` `b` `c` `abc` `q"` `hi` true nil}}',
      'a|         b|c         |ab|"q\\""|6869|true|<nil>',
    ],
    [
      "{{printf `%d %s` `x`}} {{printf `%d` 1 2}} {{printf `%!`}} {{printf `%`}}",
      "%!d(string=x) %!s(MISSING) 1%!(EXTRA int=2) %!!(MISSING) %!(NOVERB)",
    ],
    ['{{printf `%v %v` (fromJson `[1,"a"]`) (fromJson `{"b":1,"a":2}`)}}', "[1 a] map[a:2 b:1]"],
    ["{{printf `%*d` 5 1}}", "    1"],
    ["{{range 20}}{{$x := repeat 100000 `a` | lower}}{{end}}ok", "ok"],
    ["{{fromJson (printf `%s%s` (repeat 2900 `[`) (repeat 2900 `]`))}}", "<no value>"],
    ["{{$x := repeat 200000 `(`}}{{toDate $x $x | unixEpoch}}", "-62167219200"],
    ["{{toDate `05.000 (2006)` `07.125   (2024)` | unixEpochMillis}}", "1704067207125"],
    ["{{toDate `05.000` `07.12` | unixEpoch}}", "-62135596800"],
  ];
  for (const [template, text] of cases) test(template, () => assert.equal(format(template), text));

  for (const [template, details] of [
    ["{{.app.x}}", /can't evaluate field x in type string/],
    ["{{div 1 0}}", /integer divide by zero/],
    ["{{index (fromJson `[1]`) 5}}", /index out of range: 5/],
    ["{{eq 1 `a`}}", /incompatible types for comparison/],
    ["{{lower 1}}", /expected string; got int/],
    ["{{regexReplaceAll `(` .app `x`}}", /missing closing \)/],
    ["{{repeat 100000000 `abc`}}", /the limit is 1000000/],
    ["{{range 100000000}}x{{end}}", /more than 200000 steps/],
    ["{{$x := repeat 500000 `a`}}{{range 100}}{{$y := lower $x}}{{end}}", /more than 200000 steps/],
    ["{{$x := repeat 500000 `a`}}{{range 100}}{{$y := $x | len}}{{end}}", /more than 200000 steps/],
    ["{{range 100}}{{$y := repeat 500000 `a`}}{{end}}", /more than 200000 steps/],
    ["{{$x := repeat 100000 `a`}}{{range 10}}{{$y := title $x}}{{end}}", /more than 200000 steps/],
    [
      "{{$x := fromJson (printf `[%s0]` (repeat 10000 `0,`))}}{{range 1000}}{{$y := printf `%.1s` $x}}{{end}}",
      /more than 200000 steps/,
    ],
    ["{{$x := repeat 1000 `a`}}{{$y := repeat 10000 `${x}`}}{{regexReplaceAll `a` $x $y}}", /more than 200000 steps/],
    ["{{printf `%999999d%999999d` 1 1}}", /the limit is 1000000/],
    ["{{unixToTime `12`}}", /unable to parse time '12'/],
    ["{{substr 5 2 .app}}", /out of range/],
  ] as const) {
    test(`${template} marks the entry with an error and keeps the line`, () => {
      const output = run([lineFormat(template)], entry)!;
      assert.equal(output.line, entry.line);
      assert.equal(output.get("__error__"), "TemplateFormatErr");
      assert.match(output.get("__error_details__"), details);
    });
  }

  for (const template of [
    "{{",
    "{{.a",
    "{{end}}",
    "{{if}}x{{end}}",
    "{{if .a}}",
    "{{nothing .a}}",
    "{{.a | 1}}",
    "{{$x}}",
    "{{`a}}",
    '{{"a}}',
    "{{else}}",
    "{{break}}",
    "{{template `x`}}",
    "{{1abc}}",
    "{{(.a}}",
    "{{.a)}}",
    "{{|}}",
    `${"{{if .a}}".repeat(2000)}${"{{end}}".repeat(2000)}`,
    `{{${"(".repeat(5000)}1${")".repeat(5000)}}}`,
  ]) {
    test(`${template.slice(0, 40)} is refused`, () => {
      assert.throws(
        () => compilePipeline([lineFormat(template)], { unwrap: null }),
        (error) =>
          error instanceof QueryError && error.code === "invalid_request" && error.message.includes("template"),
      );
    });
  }

  test("no template has another effect than its text or its error", () => {
    const part = fc.constantFrom(
      "{{", "}}", "{{if ", "{{range ", "{{with ", "{{else}}", "{{end}}", ".app", ".n", " | ", "printf ", "`%s %5.2f%d`", "$x := ",
      "fromJson .json", "(", ")", "1", "-1", "2.5", "index ", "slice ", "add ", "div ", "date `2006` ", "__timestamp__", "nil",
      "toDateInZone `15:04` `Asia/Tokyo` `01:02`", "regexReplaceAll `a|(b)?` .s `$1`", "substr ", "repeat ", "eq ", "lt ", "{{- ", " -}}",
    ); // prettier-ignore
    fc.assert(
      fc.property(fc.array(part, { maxLength: 14 }), (parts) => {
        try {
          run([lineFormat(parts.join(""))], entry);
        } catch (error) {
          assert.ok(error instanceof QueryError && error.code === "invalid_request", String(error));
        }
      }),
      { numRuns: propertyRuns(5000) },
    );
    const call = fc.constantFrom("printf `%v`", "date `15`", "index", "slice", "trunc", "substr", "repeat", "alignLeft", "div",
      "mod", "divf", "round", "eq", "lt", "len", "fromJson", "urldecode", "b64dec", "count", "unixEpoch", "default", "html", "toDate `2`"); // prettier-ignore
    const operand = fc.constantFrom(".app", ".n", "-5", "3", "2.5", "nil", "true", "`%zz`", "(fromJson .json)", "__timestamp__", "."); // prettier-ignore
    fc.assert(
      fc.property(call, fc.array(operand, { maxLength: 3 }), (name, operands) => {
        run([lineFormat(`{{${name} ${operands.join(" ")}}}`)], entry);
      }),
      { numRuns: propertyRuns(5000) },
    );
  });
});

describe("label_format", () => {
  test("renames and sets labels", () => {
    const labels = labelsOf(parsePipeline('| label_format name=app, kind="{{.level}}-{{.n}}", n="new"').stages, entry);
    assert.equal(labels["name"], "API");
    assert.equal(labels["app"], undefined);
    assert.equal(labels["kind"], "error-12");
    assert.equal(labels["n"], "new");
  });

  test("a label that it sets counts as parsed, whatever it was", () => {
    const output = run(parsePipeline('| label_format app="x", n="y"').stages, entry)!;
    assert.deepEqual(output.parsed.pairs, ["app", "x", "n", "y"]);
    assert.ok(!output.stream.pairs.includes("app"));
    assert.ok(!output.structuredMetadata.pairs.includes("n"));
  });

  test("templates of one stage see the labels before it", () => {
    const labels = labelsOf(parsePipeline('| label_format a="{{.level}}", b="{{.a}}-"').stages, entry);
    assert.equal(labels["a"], "error");
    assert.equal(labels["b"], "-");
  });

  test("a missing label is not renamed", () => {
    assert.equal(labelsOf(parsePipeline("| label_format a=missing").stages, entry)["a"], undefined);
  });
});

describe("decolorize, drop and keep", () => {
  test("decolorize removes escape sequences", () => {
    const { stages } = parsePipeline("| decolorize");
    for (const [line, plain] of [
      ["\u001B[31mred\u001B[0m", "red"],
      ["\u001B[1;31mbold\u001B[m \u001B]0;title\u0007x", "bold x"],
      ["\u009B2Ktext\u001B", "text\u001B"],
      ["plain", "plain"],
      [`\u001B${";".repeat(100_000)}`, `\u001B${";".repeat(100_000)}`],
    ] as const) {
      assert.equal(run(stages, { line })?.line, plain);
    }
  });

  test("drop", () => {
    assert.deepEqual(extract('| json | drop a, b="2", c="x"', '{"a":1,"b":2,"c":3}'), { c: "3" });
    assert.deepEqual(extract("| json | drop __error__, __error_details__", "x"), {});
    assert.deepEqual(extract("| drop app", "", { stream: { app: "x", b: "y" }, metadata: { app: "z" } }), {
      b: "y",
      app_extracted: "z",
    });
    // What was parsed once is not parsed again.
    assert.deepEqual(extract("| json | drop a | json", '{"a":1}'), {});
  });

  test("keep", () => {
    assert.deepEqual(extract('| json | keep a, b=~"2|3", c="x"', '{"a":1,"b":2,"c":3}'), { a: "1", b: "2" });
    assert.deepEqual(extract("| json | keep a", '{"a":1,"b":x', { stream: { s: "t" } }), {
      a: "1",
      __error__: "JSONParserErr",
      __error_details__: "Unknown value type",
    });
  });
});
