/** Reads attributes and intrinsics of spans. */
import type { SpanEvent, SpanLink, TraceqlSpan } from "../storage.ts";
import type { AttributeField, Intrinsic, IntrinsicField, StaticValue } from "../syntax/ast.ts";
import { durationValue, intValue, nil, stringValue } from "./static-value.ts";
import { nestedSetParent } from "./trace-structure.ts";
import type { TraceView } from "./trace-view.ts";

export type Field = IntrinsicField | AttributeField;
/** The value of an expression for a span of the trace. */
export type FieldReader = (view: TraceView, index: number) => StaticValue;

export type RepeatedScope = "event" | "link";

/** The scope of fields that a span has several of. */
export function repeatedScope(field: Field): RepeatedScope | null {
  if (field.kind === "attribute") {
    if (field.ofParent) return null;
    return field.scope === "event" || field.scope === "link" ? field.scope : null;
  }
  if (field.intrinsic.startsWith("event:")) return "event";
  return field.intrinsic.startsWith("link:") ? "link" : null;
}

/** Reads a field; nil where a span has no such attribute. Outside of comparisons, the first event or link that has it counts. */
export function fieldReader(field: Field): FieldReader {
  if (field.kind === "intrinsic") return intrinsicReader(field.intrinsic);
  const { name, scope } = field;
  if (field.ofParent) return parentReader({ ...field, ofParent: false });
  switch (scope) {
    case null:
      return ({ spans }, index) => {
        const { attributes, resource } = spans[index]!;
        return attributes.get(name) ?? resource.get(name) ?? nil;
      };
    case "span":
      return ({ spans }, index) => spans[index]!.attributes.get(name) ?? nil;
    case "resource":
      return ({ spans }, index) => spans[index]!.resource.get(name) ?? nil;
    case "instrumentation":
      return ({ spans }, index) => spans[index]!.scope.attributes.get(name) ?? nil;
    case "event":
      return eventReader((event) => event.attributes.get(name));
    case "link":
      return linkReader((link) => link.attributes.get(name));
  }
}

function parentReader(field: AttributeField): FieldReader {
  const read = fieldReader(field);
  return (view, index) => {
    const parent = view.structure?.parent[index] ?? -1;
    return parent === -1 ? nil : read(view, parent);
  };
}

function eventReader(read: (event: SpanEvent) => StaticValue | undefined): FieldReader {
  return (view, index) => {
    const { event } = view;
    return (event === null ? firstOf(view.spans[index]!.events, read) : read(event)) ?? nil;
  };
}

function linkReader(read: (link: SpanLink) => StaticValue | undefined): FieldReader {
  return (view, index) => {
    const { link } = view;
    return (link === null ? firstOf(view.spans[index]!.links, read) : read(link)) ?? nil;
  };
}

function firstOf<Item>(items: readonly Item[], read: (item: Item) => StaticValue | undefined): StaticValue | undefined {
  for (const item of items) {
    const value = read(item);
    if (value !== undefined) return value;
  }
  return undefined;
}

function intrinsicReader(intrinsic: Intrinsic): FieldReader {
  return readers[intrinsic];
}

const ofSpan =
  (read: (span: TraceqlSpan) => StaticValue): FieldReader =>
  ({ spans }, index) =>
    read(spans[index]!);

const ofHead =
  (read: (head: NonNullable<TraceView["head"]>) => StaticValue): FieldReader =>
  ({ head }) =>
    head === null ? nil : read(head);

const ofTree =
  (read: (structure: NonNullable<TraceView["structure"]>, index: number) => number): FieldReader =>
  ({ structure }, index) =>
    structure === null ? nil : intValue(read(structure, index));

const readers: Readonly<Record<Intrinsic, FieldReader>> = {
  duration: ofSpan(({ durationNano }) => durationValue(durationNano)),
  name: ofSpan(({ name }) => stringValue(name)),
  status: ofSpan(({ status }) => ({ type: "status", value: status })),
  statusMessage: ofSpan(({ statusMessage }) => stringValue(statusMessage)),
  kind: ofSpan(({ kind }) => ({ type: "kind", value: kind })),
  childCount: ofTree(({ childCount }, index) => childCount[index]!),
  parent: ofSpan(({ parentSpanId }) => (parentSpanId === "" ? nil : stringValue(parentSpanId))),
  rootName: ofHead(({ rootName }) => stringValue(rootName)),
  rootServiceName: ofHead(({ rootServiceName }) => stringValue(rootServiceName)),
  traceDuration: ofHead(({ durationNano }) => durationValue(durationNano)),
  nestedSetLeft: ofTree(({ left }, index) => left[index]!),
  nestedSetRight: ofTree(({ right }, index) => right[index]!),
  nestedSetParent: ofTree(nestedSetParent),
  "trace:id": ({ traceId }) => stringValue(withoutLeadingZeros(traceId)),
  "span:id": ofSpan(({ spanId }) => stringValue(spanId)),
  "span:parentID": ofSpan(({ parentSpanId }) => stringValue(parentSpanId)),
  "event:name": eventReader(({ name }) => stringValue(name)),
  "event:timeSinceStart": eventReader(({ timeSinceStartNano }) => durationValue(timeSinceStartNano)),
  "link:traceID": linkReader(({ traceId }) => stringValue(withoutLeadingZeros(traceId))),
  "link:spanID": linkReader(({ spanId }) => stringValue(spanId)),
  "instrumentation:name": ofSpan(({ scope }) => stringValue(scope.name)),
  "instrumentation:version": ofSpan(({ scope }) => stringValue(scope.version)),
};

/** Tempo writes trace IDs without them, and compares IDs of any length. */
export function withoutLeadingZeros(traceId: string): string {
  return traceId.replace(/^0+/, "");
}

/** What a query has to be given beyond the spans that it selects. */
export interface FieldNeeds {
  /** All spans of a trace, as a tree. */
  readonly structure: boolean;
  readonly head: boolean;
}

const structural: ReadonlySet<Intrinsic> = new Set([
  "childCount",
  "nestedSetLeft",
  "nestedSetRight",
  "nestedSetParent",
] as const);
const ofWholeTrace: ReadonlySet<Intrinsic> = new Set(["rootName", "rootServiceName", "traceDuration"] as const);

export function needsOf(field: Field): FieldNeeds {
  if (field.kind === "attribute") {
    return { structure: field.ofParent, head: false };
  }
  return { structure: structural.has(field.intrinsic), head: ofWholeTrace.has(field.intrinsic) };
}

/** Whether two fields read the same. */
export function fieldKey(field: Field): string {
  if (field.kind === "intrinsic") return field.intrinsic;
  return `${field.ofParent ? "parent." : ""}${field.scope ?? ""}.${field.name}`;
}

/** The values of each event or link of a span for which `holds`; of other fields, the only value if it holds. */
export function readEach(
  { field, holds, read }: { readonly field: Field; readonly read: FieldReader; readonly holds: () => boolean },
  view: TraceView,
  index: number,
): readonly StaticValue[] {
  const readOne = (): readonly StaticValue[] => (holds() ? [read(view, index)] : []);
  const scope = repeatedScope(field);
  if (scope === null) return readOne();
  const { events, links } = view.spans[index]!;
  const values =
    scope === "event"
      ? events.flatMap((event) => ((view.event = event), readOne()))
      : links.flatMap((link) => ((view.link = link), readOne()));
  view.event = null;
  view.link = null;
  return values;
}
