/** Reads lists of OTLP attributes, hashes them regardless of their order, and writes them as the store's maps. */
import type { MapColumn, StringColumn } from "../../store/column-writers.ts";
import { AttributeKinds, kindCodes } from "../rows/attribute-kinds.ts";
import { AnyValueReader, writeText } from "./any-value.ts";
import { isContentName } from "../../store/content-attributes.ts";
import type { SealContent } from "../rows/seal-content.ts";
import { Hash64 } from "../rows/hash64.ts";
import { keyValue } from "../../protobuf/otlp-messages.ts";
import { wireType } from "../../protobuf/message-type.ts";
import { MessageScan, type RangeList } from "../../protobuf/message-scan.ts";

const field = keyValue.fields;
/** The first bytes of a key and of a value: field number and wire type. */
const keyTag = (field.key << 3) | wireType.bytes;
const valueTag = (field.value << 3) | wireType.bytes;

/** The position of key and value of the attribute that was read last. */
export class AttributeReader {
  readonly #scan = new MessageScan(keyValue);
  keyStart = 0;
  keyEnd = 0;
  /** Position of the AnyValue; 0 if absent. */
  valueStart = 0;
  valueEnd = 0;

  read(bytes: Uint8Array, start: number, end: number): void {
    // Nearly every attribute is a short key followed by a short value, each with a length of one byte.
    const keyEnd = start + 2 + bytes[start + 1]!;
    if (
      bytes[start] === keyTag &&
      keyEnd + 2 <= end &&
      bytes[start + 1]! < 0x80 &&
      bytes[keyEnd] === valueTag &&
      end === keyEnd + 2 + bytes[keyEnd + 1]! &&
      bytes[keyEnd + 1]! < 0x80
    ) {
      this.keyStart = start + 2;
      this.keyEnd = keyEnd;
      this.valueStart = keyEnd + 2;
      this.valueEnd = end;
      return;
    }
    this.#scan.read(bytes, start, end);
    const { starts, ends } = this.#scan;
    this.keyStart = starts[field.key]!;
    this.keyEnd = ends[field.key]!;
    this.valueStart = starts[field.value]!;
    this.valueEnd = ends[field.value]!;
    this.#scan.forget();
  }
}

/** Values by their position in a record's bytes. */
export type Presealed = ReadonlyMap<number, string>;

/** Whether a name is that of an attribute with content. */
export type IsContent = (bytes: Uint8Array, start: number, end: number) => boolean;

/** How content is encrypted. */
export interface ContentSealing {
  /** Undefined: it is not. */
  readonly seal: SealContent | undefined;
  /** Of the record that is being written: what is encrypted already. */
  readonly presealed: Presealed | undefined;
}

/** Writes maps, and the kinds of their values. */
export class AttributeWriter {
  readonly #value = new AnyValueReader();
  readonly #reader = new AttributeReader();
  readonly #kinds = new AttributeKinds();
  readonly #sealing: ContentSealing | undefined;
  /** What is encrypted, if anything is. */
  isContent: IsContent = isContentName;

  /** @param sealing encrypts content; absent: it is written as it is */
  constructor(sealing?: ContentSealing) {
    this.#sealing = sealing?.seal === undefined ? undefined : sealing;
  }

  /** Adds an attribute to the row's map. */
  add(map: MapColumn, bytes: Uint8Array, attribute: AttributeReader): void {
    const { keyEnd, keyStart } = attribute;
    writeText(map.keys, bytes, keyStart, keyEnd);
    this.#value.read(bytes, attribute.valueStart, attribute.valueEnd);
    const isContent = this.#sealing !== undefined && this.isContent(bytes, keyStart, keyEnd);
    const sealed = isContent ? this.#sealed(bytes, attribute) : undefined;
    if (sealed === undefined) this.#value.write(map.values, bytes);
    else map.values.text(sealed);
    this.#kinds.add(sealed === undefined ? this.#value.kind : kindCodes.encrypted);
  }

  #sealed(bytes: Uint8Array, { valueStart }: AttributeReader): string | undefined {
    const { presealed, seal } = this.#sealing!;
    return presealed?.get(valueStart) ?? (seal && this.#value.sealed(bytes, seal));
  }

  /** Ends the row's map. */
  end(map: MapColumn, types: StringColumn): void {
    map.end();
    this.#kinds.end(types);
  }

  /** Writes a whole list as one row's map. */
  write(columns: { readonly map: MapColumn; readonly types: StringColumn }, bytes: Uint8Array, list: RangeList): void {
    for (let index = 0; index < list.length; index += 1) {
      this.#reader.read(bytes, list.start(index), list.end(index));
      this.add(columns.map, bytes, this.#reader);
    }
    this.end(columns.map, columns.types);
  }
}

const reader = new AttributeReader();
const value = new AnyValueReader();
const each = new Hash64();

/** Adds the attributes to a hash, regardless of their order. */
export function hashAttributes(hash: Hash64, bytes: Uint8Array, list: RangeList): Hash64 {
  let low = 0;
  let high = 0;
  for (let index = 0; index < list.length; index += 1) {
    reader.read(bytes, list.start(index), list.end(index));
    each.reset().addBytes(bytes, reader.keyStart, reader.keyEnd);
    value.read(bytes, reader.valueStart, reader.valueEnd);
    value.hash(each, bytes);
    each.finish();
    low = (low + each.low) | 0;
    high = (high + each.high) | 0;
  }
  return hash.add(low, high).add(list.length, 0);
}
