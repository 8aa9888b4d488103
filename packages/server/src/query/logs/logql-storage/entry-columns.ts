/** The columns that a query for entries reads, and the batches that are made of them. */
import type { EntriesRequest, EntryBatch } from "@sounding/logql/storage";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { lineBytes } from "../../../store/row-expressions.ts";
import { opaqueKinds } from "../../../store/attribute-kinds.ts";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import type { ColumnBlock, ListColumn } from "../../../store/native-reader.ts";
import { lineOf } from "../log-line.ts";
import type { SliceRows } from "./read-slice.ts";
import type { StreamColumns } from "./stream-labels.ts";
import { streamLevel } from "./stream-level.ts";
import type { StreamTable } from "./stream-table.ts";
import type { StructuredMetadata } from "./structured-metadata.ts";

interface BatchParts {
  readonly streams: StreamTable;
  readonly metadata: StructuredMetadata;
  readonly yieldBudget: YieldBudget;
}

const opaque = bind.texts(opaqueKinds);

const identity = sql`project, toUnixTimestamp64Nano(time) AS unix_nano, record_id, service, ${streamLevel} AS level_number,
  resource_id, body_type, event_name, toUInt32(${lineBytes}) AS line_bytes`;
const wholeBody = sql`body`;
/** Lists and maps are stored as OTLP's JSON, or encrypted; the length of their lines is known only once they are converted. */
const structuredBody = sql`if(body_type IN ${opaque}, body, '') AS body_text`;
const metadataColumns = sql`, scope_id, trace_id, span_id, severity_text,
  CAST(mapKeys(attributes), 'Array(String)') AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types`;

export class EntryColumns {
  readonly selected: Statement;
  readonly #needsLine: boolean;
  readonly #needsMetadata: boolean;

  constructor({ line, structuredMetadata }: EntriesRequest["needs"]) {
    this.#needsLine = line;
    this.#needsMetadata = structuredMetadata === "all" || structuredMetadata.length > 0;
    this.selected = sql`${identity}, ${line ? wholeBody : structuredBody}${this.#needsMetadata ? metadataColumns : sql``}`;
  }

  /** The entries that the query selects, each once. Runs statements if they are of streams that are new. */
  async batch({ blocks, count }: SliceRows, { metadata, streams, yieldBudget }: BatchParts): Promise<EntryBatch> {
    const rows = blocks.map(
      (block) => new BlockRows(block, { hasLines: this.#needsLine, hasMetadata: this.#needsMetadata }),
    );
    await streams.add(referencesOf(rows));
    const unixNanos = new BigInt64Array(count);
    const lineBytes = new Uint32Array(count);
    const streamIndexes = new Uint32Array(count);
    const lines: string[] = [];
    const structuredMetadata: (readonly string[])[] = [];
    let taken = 0;
    for (const block of rows) {
      for (let row = 0; row < block.rowCount; row += 1) {
        if (yieldBudget.spend(this.#needsMetadata ? 16 : 2)) await yieldBudget.yield();
        const stream = streams.indexOf(block.streamKeys[row]!);
        if (stream < 0 || this.#isRepeated(block, row)) continue;
        unixNanos[taken] = block.unixNanos[row]!;
        streamIndexes[taken] = stream;
        const { bytes, line } = this.#lineOf(block, row);
        lineBytes[taken] = bytes;
        lines.push(line);
        structuredMetadata.push(this.#needsMetadata ? block.metadata(row, metadata, streams) : noMetadata);
        taken += 1;
      }
    }
    return {
      count: taken,
      unixNanos: unixNanos.subarray(0, taken),
      lines,
      lineBytes: lineBytes.subarray(0, taken),
      streamIndexes: streamIndexes.subarray(0, taken),
      streams: streams.labels,
      structuredMetadata,
    };
  }

  #lineOf(block: BlockRows, row: number): { line: string; bytes: number } {
    const body_type = block.bodyTypes[row]!;
    const isStructured = opaqueKinds.includes(body_type);
    if (!isStructured && !this.#needsLine) return { line: "", bytes: block.lineBytes[row]! };
    const line = lineOf({ body: block.bodies[row]!, body_type, event_name: block.eventNames[row]! });
    if (!isStructured) return { line, bytes: block.lineBytes[row]! };
    return { line: this.#needsLine ? line : "", bytes: Buffer.byteLength(line) };
  }

  #last: { readonly unixNano: bigint; readonly recordId: bigint; readonly project: string } | undefined;

  /** Entries that were sent twice follow each other. */
  #isRepeated(block: BlockRows, row: number): boolean {
    const unixNano = block.unixNanos[row]!;
    const recordId = block.recordIds[row]!;
    const project = block.projects[row]!;
    const last = this.#last;
    if (last?.unixNano === unixNano && last.recordId === recordId && last.project === project) return true;
    this.#last = { unixNano, recordId, project };
    return false;
  }
}

const noMetadata: readonly string[] = Object.freeze([]);

function referencesOf(blocks: readonly BlockRows[]): { streams: Map<string, StreamColumns>; scopeIds: Set<string> } {
  const streams = new Map<string, StreamColumns>();
  const scopeIds = new Set<string>();
  for (const block of blocks) block.addReferences(streams, scopeIds);
  return { streams, scopeIds };
}

/** Typed access to the columns of a block. */
class BlockRows {
  readonly rowCount: number;
  readonly unixNanos: BigInt64Array;
  readonly recordIds: BigUint64Array;
  readonly projects: readonly string[];
  readonly bodyTypes: readonly string[];
  readonly bodies: readonly string[];
  readonly eventNames: readonly string[];
  readonly lineBytes: Uint32Array;
  readonly streamKeys: string[] = [];
  readonly #block: ColumnBlock;
  readonly #hasMetadata: boolean;
  #resourceIds: string[] = [];
  #scopeIds: string[] = [];

  constructor(
    block: ColumnBlock,
    { hasLines, hasMetadata }: { readonly hasLines: boolean; readonly hasMetadata: boolean },
  ) {
    this.#block = block;
    this.#hasMetadata = hasMetadata;
    this.rowCount = block.rowCount;
    this.unixNanos = block.columns.get("unix_nano") as BigInt64Array;
    this.recordIds = block.columns.get("record_id") as BigUint64Array;
    this.projects = this.#texts("project");
    this.bodyTypes = this.#texts("body_type");
    this.bodies = this.#texts(hasLines ? "body" : "body_text");
    this.eventNames = this.#texts("event_name");
    this.lineBytes = block.columns.get("line_bytes") as Uint32Array;
  }

  #texts(name: string): readonly string[] {
    return this.#block.columns.get(name) as readonly string[];
  }

  addReferences(streams: Map<string, StreamColumns>, scopeIds: Set<string>): void {
    const services = this.#texts("service");
    const levels = this.#block.columns.get("level_number") as Uint8Array;
    this.#resourceIds = decimalTexts(this.#block.columns.get("resource_id") as BigUint64Array);
    for (let row = 0; row < this.rowCount; row += 1) {
      const project = this.projects[row]!;
      const service = services[row]!;
      const level = levels[row]!;
      const resource_id = this.#resourceIds[row]!;
      const key = `${level} ${resource_id} ${project.length} ${project}${service}`;
      this.streamKeys.push(key);
      if (!streams.has(key)) streams.set(key, { project, service, level, resource_id });
    }
    if (!this.#hasMetadata) return;
    this.#scopeIds = decimalTexts(this.#block.columns.get("scope_id") as BigUint64Array);
    for (const id of this.#scopeIds) scopeIds.add(id);
  }

  metadata(row: number, metadata: StructuredMetadata, streams: StreamTable): readonly string[] {
    const names = this.#list("attribute_names", row);
    const values = this.#list("attribute_values", row);
    const columns = {
      traceId: this.#texts("trace_id")[row]!,
      spanId: this.#texts("span_id")[row]!,
      severityText: this.#texts("severity_text")[row]!,
      eventName: this.eventNames[row]!,
      names,
      values,
      kinds: this.#texts("attribute_types")[row]!,
    };
    return metadata.of(columns, streams.resource(this.#resourceIds[row]!), streams.scope(this.#scopeIds[row]!));
  }

  #list(name: string, row: number): readonly string[] {
    const { ends, items } = this.#block.columns.get(name) as ListColumn;
    return (items as readonly string[]).slice(row === 0 ? 0 : ends[row - 1], ends[row]);
  }
}

/** Most rows have the number of the row before. */
function decimalTexts(numbers: BigUint64Array): string[] {
  let last: bigint | undefined;
  let text = "";
  return Array.from(numbers, (number) => {
    if (number !== last) text = String(number);
    last = number;
    return text;
  });
}
