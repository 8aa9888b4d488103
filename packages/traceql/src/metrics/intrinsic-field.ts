/** Fields that metrics read although no query names them. */
import { nowhere } from "@sounding/promql/syntax/source-range";
import type { Intrinsic, IntrinsicField } from "../syntax/ast.ts";

export function intrinsicOf(intrinsic: Intrinsic): IntrinsicField {
  return { kind: "intrinsic", intrinsic, at: nowhere };
}
