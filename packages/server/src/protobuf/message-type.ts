/**
 * Describes protobuf messages as data: field numbers, JSON names and kinds, for decoding protobuf, encoding JSON requests and
 * encoding responses. https://protobuf.dev/programming-guides/encoding/
 */

/** `id`: bytes that JSON writes as hex digits. `enum`: a number in JSON too (both are OTLP's own rules). */
export type ScalarKind =
  | "string"
  | "bytes"
  | "id"
  | "bool"
  | "enum"
  | "int32"
  | "uint32"
  | "sint32"
  | "int64"
  | "uint64"
  | "fixed32"
  | "fixed64"
  | "sfixed64"
  | "float"
  | "double";

export interface Field {
  readonly number: number;
  readonly jsonName: string;
  readonly kind: ScalarKind | MessageType;
  readonly repeated: boolean;
}

/** Wire types of the encoding. */
export const wireType = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** Field numbers by the fields' JSON names. */
type FieldNumbers = Readonly<Record<string, number>>;

/** A field's kind, and whether it is repeated. */
type FieldKind = readonly [kind: Field["kind"], repeated?: "repeated"];

export class MessageType<const Numbers extends FieldNumbers = FieldNumbers> {
  readonly name: string;
  /**
   * Field numbers by JSON name. Code that runs for every record reads them through a constant of its own module
   * (`const field = span.fields`), which V8 replaces by the numbers.
   */
  readonly fields: Numbers;
  readonly byJsonName = new Map<string, Field>();
  /** By field number: which wire types may carry it (bit n for type n); 0 for unknown fields. */
  readonly acceptedWireTypes: Uint8Array;
  /** By field number: 1 for fields that are kept as a list. */
  readonly repeated: Uint8Array;

  constructor(name: string, fields: Numbers) {
    this.name = name;
    this.fields = fields;
    const highestNumber = Math.max(0, ...Object.values(fields));
    this.acceptedWireTypes = new Uint8Array(highestNumber + 1);
    this.repeated = new Uint8Array(highestNumber + 1);
  }

  /** Sets the fields' kinds. Separate from construction, so that messages can contain each other. */
  define(kinds: { readonly [Name in keyof Numbers]: FieldKind }): void {
    for (const [jsonName, [kind, repeated]] of Object.entries(kinds)) {
      const field: Field = { number: this.fields[jsonName]!, jsonName, kind, repeated: repeated === "repeated" };
      this.byJsonName.set(jsonName, field);
      this.acceptedWireTypes[field.number] = acceptedWireTypes(field);
      this.repeated[field.number] = field.repeated ? 1 : 0;
    }
  }
}

/** The wire type of one value of this kind. */
export function wireTypeOf(kind: Field["kind"]): number {
  if (kind instanceof MessageType) return wireType.bytes;
  switch (kind) {
    case "string":
    case "bytes":
    case "id":
      return wireType.bytes;
    case "fixed64":
    case "sfixed64":
    case "double":
      return wireType.fixed64;
    case "fixed32":
    case "float":
      return wireType.fixed32;
    default:
      return wireType.varint;
  }
}

function acceptedWireTypes({ kind, repeated }: Field): number {
  const single = wireTypeOf(kind);
  // Repeated numbers can be packed into one field or not; readers must accept both.
  return (1 << single) | (repeated ? 1 << wireType.bytes : 0);
}

type FieldDefinition = readonly [number: number, ...kind: FieldKind];

/** A message from its fields by their JSON names. */
export function message<const Definitions extends Readonly<Record<string, FieldDefinition>>>(
  name: string,
  definitions: Definitions,
): MessageType<{ readonly [Name in keyof Definitions]: Definitions[Name][0] }> {
  const entries = Object.entries(definitions);
  const numbers = Object.fromEntries(entries.map(([jsonName, [number]]) => [jsonName, number]));
  const type = new MessageType(name, numbers);
  type.define(Object.fromEntries(entries.map(([jsonName, [, ...kind]]) => [jsonName, kind])));
  return type as MessageType<{ readonly [Name in keyof Definitions]: Definitions[Name][0] }>;
}
