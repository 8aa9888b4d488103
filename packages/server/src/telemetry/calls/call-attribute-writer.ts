/** Writes the attributes of our own records as the store's maps. */
import type { MapColumn, StringColumn } from "../../store/column-writers.ts";
import { largeAttributeBytes } from "../../store/schema.ts";
import { AttributeKinds, kindCodes } from "../rows/attribute-kinds.ts";
import { SealedText, type Attributes, type AttributeValue } from "./call-record-types.ts";

interface MapColumns {
  readonly map: MapColumn;
  readonly types: StringColumn;
}

export class CallAttributeWriter {
  readonly #kinds = new AttributeKinds();

  /** Writes all attributes. */
  write({ map, types }: MapColumns, attributes: Attributes): void {
    for (const name in attributes) this.#add(map, name, attributes[name]);
    this.#end(map, types);
  }

  /** Writes the attributes whose values are not large; returns whether any were skipped. */
  writeSmall({ map, types }: MapColumns, attributes: Attributes): boolean {
    let leftOut = false;
    for (const name in attributes) {
      const value = attributes[name];
      if (isLarge(value)) leftOut = true;
      else this.#add(map, name, value);
    }
    this.#end(map, types);
    return leftOut;
  }

  /** Writes the other ones. */
  writeLarge({ map, types }: MapColumns, attributes: Attributes): void {
    for (const name in attributes) if (isLarge(attributes[name])) this.#add(map, name, attributes[name]);
    this.#end(map, types);
  }

  #add(map: MapColumn, name: string, value: AttributeValue | undefined): void {
    if (value === undefined) return;
    map.keys.text(name);
    this.#kinds.add(writeValue(map.values, value));
  }

  #end(map: MapColumn, types: StringColumn): void {
    map.end();
    this.#kinds.end(types);
  }
}

function isLarge(value: AttributeValue | undefined): boolean {
  if (value instanceof SealedText) return value.text.length > largeAttributeBytes;
  // A UTF-16 code unit takes at most three bytes of UTF-8: short strings need no count of their bytes.
  return (
    typeof value === "string" &&
    value.length > largeAttributeBytes / 3 &&
    Buffer.byteLength(value) > largeAttributeBytes
  );
}

/** Writes the value as the store keeps it; returns the code of its kind. */
function writeValue(column: StringColumn, value: AttributeValue): number {
  switch (typeof value) {
    case "string":
      column.text(value);
      return kindCodes.string;
    case "boolean":
      column.text(String(value));
      return kindCodes.boolean;
    case "number":
      column.text(String(value));
      return Number.isSafeInteger(value) ? kindCodes.integer : kindCodes.double;
    default:
      if (value instanceof SealedText) {
        column.text(value.text);
        return kindCodes.encrypted;
      }
      column.text(JSON.stringify({ arrayValue: { values: value.map((stringValue) => ({ stringValue })) } }));
      return kindCodes.array;
  }
}
