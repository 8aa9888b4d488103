/** The syntax tree of templates in the language of Go's text/template. https://pkg.go.dev/text/template */

export type TemplateNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "action"; readonly pipeline: Pipeline }
  | {
      readonly kind: "if" | "with" | "range";
      readonly pipeline: Pipeline;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    }
  | { readonly kind: "break" }
  | { readonly kind: "continue" };

/** `$x := f .a | g`: each command passes its value to the next one as the last argument. */
export interface Pipeline {
  readonly variables: readonly string[];
  /** `=` instead of `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly (readonly Operand[])[];
}

export type Operand =
  | { readonly kind: "dot" }
  | { readonly kind: "nil" }
  | { readonly kind: "literal"; readonly value: string | boolean | bigint | number }
  | { readonly kind: "field"; readonly names: readonly string[] }
  | { readonly kind: "variable"; readonly name: string; readonly names: readonly string[] }
  | { readonly kind: "function"; readonly name: string }
  | { readonly kind: "pipeline"; readonly pipeline: Pipeline; readonly names: readonly string[] };
