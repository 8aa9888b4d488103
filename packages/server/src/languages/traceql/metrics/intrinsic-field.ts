/** Fields that metrics read although no query names them. */
import { nowhere } from "../../promql/syntax/source-range.ts";
import type { Intrinsic, IntrinsicField } from "../syntax/ast.ts";

export function intrinsicOf(intrinsic: Intrinsic): IntrinsicField {
  return { kind: "intrinsic", intrinsic, at: nowhere };
}
