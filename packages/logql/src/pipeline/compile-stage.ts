/** Compiles one stage of a pipeline. */
import type { Stage } from "../syntax/ast.ts";
import { decolorize } from "./decolorize.ts";
import { compileJsonExpressions } from "./json-expressions.ts";
import { compileJsonParser } from "./json-parser.ts";
import { compileLabelChoice } from "./label-choice.ts";
import { compileLabelFilter } from "./label-filter.ts";
import { compileLabelFormat } from "./label-format.ts";
import { compileLineFilter } from "./line-filter.ts";
import { compileLineFormat } from "./line-format.ts";
import { compileLogfmtParser } from "./logfmt-parser.ts";
import type { ParserHints } from "./parser-hints.ts";
import { compilePatternParser } from "./pattern-parser.ts";
import { compileRegexpParser } from "./regexp-parser.ts";
import type { CompiledStage } from "./stage.ts";
import { compileUnpackParser } from "./unpack-parser.ts";

/** @throws QueryError `invalid_request` for an invalid expression, pattern or template */
export function compileStage(stage: Stage, hints: ParserHints): CompiledStage {
  switch (stage.kind) {
    case "line-filter":
      return compileLineFilter(stage);
    case "label-filter":
      return compileLabelFilter(stage.filter);
    case "json":
      return stage.extractions.length === 0
        ? compileJsonParser(hints)
        : compileJsonExpressions(stage.extractions, hints);
    case "logfmt":
      return compileLogfmtParser(stage, hints);
    case "regexp":
      return compileRegexpParser(stage.expression, hints);
    case "pattern":
      return compilePatternParser(stage.pattern, hints);
    case "unpack":
      return compileUnpackParser(hints);
    case "line-format":
      return compileLineFormat(stage.template);
    case "label-format":
      return compileLabelFormat(stage.assignments);
    case "drop":
    case "keep":
      return compileLabelChoice(stage);
    case "decolorize":
      return decolorize;
  }
}
