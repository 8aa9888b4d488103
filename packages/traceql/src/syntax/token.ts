/** The tokens of a TraceQL query. */
import type { SourceRange } from "@sounding/promql/syntax/source-range";
import type { AttributeScope } from "./ast.ts";

export type Token = SourceRange & { readonly text: string } & TokenContent;

type TokenContent =
  | { readonly kind: "word" | "sign" | "end" }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "int"; readonly value: bigint }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "duration"; readonly nanoseconds: bigint }
  | {
      readonly kind: "attribute";
      readonly scope: AttributeScope | null;
      readonly ofParent: boolean;
      readonly name: string;
    };

/** A token as error messages name it. */
export function describeToken(token: Token): string {
  if (token.kind === "end") return "end of query";
  const shown = token.text.length > 30 ? `${token.text.slice(0, 30)}…` : token.text;
  return token.kind === "word" || token.kind === "sign" ? JSON.stringify(shown) : `${token.kind} ${shown}`;
}
