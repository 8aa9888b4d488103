/** Turns spans and log records of Sounding's own calls into rows, for one organization. */
import { createHash } from "node:crypto";
import type { Batch, Store } from "../../store/store.ts";
import { writeResource, writeScope } from "../rows/description-rows.ts";
import { writeLog } from "../rows/log-rows.ts";
import type { RecordGroup } from "../rows/record-group.ts";
import { RowBuilder } from "../rows/row-builder.ts";
import { writeSpan } from "../rows/span-rows.ts";
import { CallAttributeWriter } from "./call-attribute-writer.ts";
import type { CallLog, CallSpan } from "./call-record-types.ts";
import { CallLogSource, CallSpanSource } from "./call-sources.ts";

/** What all our records have in common: this process. */
export interface ServerIdentity {
  readonly version: string;
  /** Differs between processes. */
  readonly instanceId: string;
}

const serviceName = "sounding";
const scopeName = "sounding";

/** The records of one project. */
export interface CallGroup {
  readonly project: string;
  readonly retentionDays: number;
  readonly spans: readonly CallSpan[];
  readonly logs: readonly CallLog[];
}

export interface SpanRowWriterOptions {
  readonly organizationId: string;
  readonly identity: ServerIdentity;
  /** Of costs. */
  readonly currency: string;
  /** Knows which resources and scopes need not be written again. */
  readonly store: Pick<Store, "isKnown">;
}

export class SpanRowWriter {
  readonly #identity: ServerIdentity;
  readonly #builder: RowBuilder;
  readonly #attributes = new CallAttributeWriter();
  readonly #span: CallSpanSource;
  readonly #log = new CallLogSource(this.#attributes);

  constructor({ currency, identity, organizationId, store }: SpanRowWriterOptions) {
    this.#identity = identity;
    this.#span = new CallSpanSource(this.#attributes, currency);
    this.#builder = new RowBuilder({ organizationId, nowMs: Date.now(), store });
  }

  /** Adds a project's records. */
  add({ project, retentionDays: days, spans, logs }: CallGroup): void {
    const group: RecordGroup = {
      project: Buffer.from(project),
      service: Buffer.from(serviceName),
      days,
      resourceId: this.#describeResource(project, days),
      scopeId: this.#describeScope(days),
    };
    for (const span of spans) {
      this.#span.current = span;
      writeSpan(this.#builder, this.#span, group);
    }
    for (const log of logs) {
      this.#log.current = log;
      writeLog(this.#builder, this.#log, group);
    }
  }

  finish(): readonly Batch[] {
    return this.#builder.finish();
  }

  /** The resource's hash; its row is written if the store does not have it. */
  #describeResource(project: string, days: number): Uint8Array {
    const { version, instanceId } = this.#identity;
    const attributes = {
      "service.name": serviceName,
      "service.version": version,
      "service.instance.id": instanceId,
      "project.name": project,
    };
    const id = hashOf({ ...attributes, days: String(days) });
    if (this.#builder.isNew("resources", id.readBigUInt64LE())) {
      writeResource(this.#builder, {
        id,
        days,
        droppedAttributes: 0,
        writeAttributes: (map, types) => this.#attributes.write({ map, types }, attributes),
        writeSchemaUrl: (column) => column.addDefault(),
      });
    }
    return id;
  }

  /** The same for the scope. */
  #describeScope(days: number): Uint8Array {
    const { version } = this.#identity;
    const id = hashOf({ scope: scopeName, version, days: String(days) });
    if (this.#builder.isNew("scopes", id.readBigUInt64LE())) {
      writeScope(this.#builder, {
        id,
        days,
        droppedAttributes: 0,
        writeName: (column) => column.text(scopeName),
        writeVersion: (column) => column.text(version),
        writeAttributes: (map, types) => this.#attributes.write({ map, types }, {}),
        writeSchemaUrl: (column) => column.addDefault(),
      });
    }
    return id;
  }
}

function hashOf(described: Readonly<Record<string, string>>): Buffer {
  return createHash("sha256").update(JSON.stringify(described)).digest().subarray(0, 8);
}
