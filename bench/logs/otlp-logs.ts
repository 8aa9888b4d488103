/**
 * Writes OTLP requests with log records directly as protobuf: the general encoder of the tests takes longer for a record than
 * the measured servers. https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/logs/v1/logs.proto
 */

export interface LogRecord {
  readonly unixNano: bigint;
  readonly severityNumber: number;
  readonly severityText: string;
  /** ASCII, as all texts here. */
  readonly line: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** 24 random bytes as hexadecimal digits: the IDs of the trace and the span. */
  readonly ids: string | undefined;
}

/** The tag of a field that has a length. */
const lengthTag = (field: number): number => (field << 3) | 2;
const fixed64Tag = (field: number): number => (field << 3) | 1;

const longestRecord = 4096;

function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : 4;
}

/** Of a field with a length: tag, length, content. */
const sizeOf = (content: number): number => 1 + varintBytes(content) + content;

function header(field: number, content: number): Buffer {
  const bytes = [lengthTag(field)];
  for (let rest = content; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function keyValueSize([name, value]: readonly [string, string]): number {
  return sizeOf(name.length) + sizeOf(sizeOf(value.length));
}

/** The records of one resource in the next request. */
export class ResourceRecords {
  readonly #resource: Buffer;
  #bytes = Buffer.allocUnsafe(1 << 20);
  #end = 0;

  constructor(attributes: Readonly<Record<string, string>>) {
    const pairs = Object.entries(attributes);
    const size = pairs.reduce((sum, pair) => sum + sizeOf(keyValueSize(pair)), 0);
    this.#begin(1, size);
    for (const pair of pairs) this.#keyValue(1, pair);
    this.#resource = Buffer.from(this.#bytes.subarray(0, this.#end));
    this.#end = 0;
  }

  add({ attributes, ids, line, severityNumber, severityText, unixNano }: LogRecord): void {
    if (this.#end + longestRecord > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(this.#bytes.length)]);
    }
    const body = sizeOf(line.length);
    let size = 9 + 2 + sizeOf(severityText.length) + sizeOf(body) + (ids === undefined ? 0 : 28);
    for (const pair of attributes) size += sizeOf(keyValueSize(pair));
    this.#begin(2, size);
    this.#bytes[this.#end] = fixed64Tag(1);
    this.#bytes.writeBigUInt64LE(unixNano, this.#end + 1);
    this.#bytes[this.#end + 9] = 2 << 3;
    this.#bytes[this.#end + 10] = severityNumber;
    this.#end += 11;
    this.#text(3, severityText);
    this.#begin(5, body);
    this.#text(1, line);
    for (const pair of attributes) this.#keyValue(6, pair);
    if (ids === undefined) return;
    this.#begin(9, 16);
    this.#end += this.#bytes.write(ids.slice(0, 32), this.#end, "hex");
    this.#begin(10, 8);
    this.#end += this.#bytes.write(ids.slice(32), this.#end, "hex");
  }

  #begin(field: number, content: number): void {
    this.#bytes[this.#end++] = lengthTag(field);
    let rest = content;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#end++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#end++] = rest;
  }

  #text(field: number, value: string): void {
    this.#begin(field, value.length);
    this.#end += this.#bytes.write(value, this.#end, "latin1");
  }

  #keyValue(field: number, pair: readonly [string, string]): void {
    const [name, value] = pair;
    this.#begin(field, keyValueSize(pair));
    this.#text(1, name);
    this.#begin(2, sizeOf(value.length));
    this.#text(1, value);
  }

  /** The ResourceLogs with the records since the last call. */
  take(): Buffer {
    const records = Buffer.from(this.#bytes.subarray(0, this.#end));
    this.#end = 0;
    const scope = header(2, records.length);
    const content = this.#resource.length + scope.length + records.length;
    return Buffer.concat([header(1, content), this.#resource, scope, records]);
  }
}
