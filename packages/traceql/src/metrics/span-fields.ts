/** All fields of a span that `compare()` breaks down: attributes of every scope, and the intrinsics that have few values. */
import type { TraceView } from "../spans/trace-view.ts";
import { fieldReader } from "../spans/read-field.ts";
import type { AttributeScope, Intrinsic, StaticValue } from "../syntax/ast.ts";
import { nowhere } from "@sounding/promql/syntax/source-range";
import { printField } from "../spans/print-element.ts";
import { intrinsicOf } from "./intrinsic-field.ts";
import type { Attributes } from "../storage.ts";

const intrinsics: readonly Intrinsic[] = [
  "name",
  "status",
  "statusMessage",
  "kind",
  "rootName",
  "rootServiceName",
  "instrumentation:name",
  "instrumentation:version",
];
export const comparedIntrinsics = intrinsics.map(intrinsicOf);
const readers = comparedIntrinsics.map((field) => ({ name: printField(field), read: fieldReader(field) }));

/** Remembers the names of attributes as labels have them. */
export class SpanFields {
  readonly #names = new Map<AttributeScope, Map<string, string>>();

  /** Calls `visit` with each field that the span has; attributes of events and links as often as they occur. */
  forEach(view: TraceView, index: number, visit: (name: string, value: StaticValue) => void): void {
    for (const { name, read } of readers) {
      const value = read(view, index);
      if (value.type !== "nil") visit(name, value);
    }
    const { attributes, events, links, resource, scope } = view.spans[index]!;
    this.#visitAll("resource", resource, visit);
    this.#visitAll("instrumentation", scope.attributes, visit);
    this.#visitAll("span", attributes, visit);
    for (const event of events) this.#visitAll("event", event.attributes, visit);
    for (const link of links) this.#visitAll("link", link.attributes, visit);
  }

  #visitAll(scope: AttributeScope, attributes: Attributes, visit: (name: string, value: StaticValue) => void): void {
    for (const [name, value] of attributes) visit(this.#label(scope, name), value);
  }

  #label(scope: AttributeScope, name: string): string {
    const names = this.#names.get(scope) ?? new Map<string, string>();
    this.#names.set(scope, names);
    const known = names.get(name);
    if (known !== undefined) return known;
    const label = printField({ kind: "attribute", scope, ofParent: false, name, at: nowhere });
    names.set(name, label);
    return label;
  }
}
