/** Writes the exemplars of metric points: a value, its time, and the span that it was measured in. */
import { exemplars } from "../../store/metric-tables.ts";
import { AttributeWriter } from "./attributes.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { writeSpanIdOf, writeTraceIdOf } from "./message-fields.ts";
import { metricParts } from "../../protobuf/otlp-messages.ts";
import { MessageScan } from "../../protobuf/message-scan.ts";
import { numberOf, type PointContext } from "./point-context.ts";
import { timeProblem } from "./time-check.ts";

const field = metricParts.exemplar.fields;

export class ExemplarWriter {
  readonly #builder: ExportBuilder;
  readonly #scan = new MessageScan(metricParts.exemplar);
  readonly #writer = new AttributeWriter();

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
  }

  /** @param pointTimeAt position of the point's time, for exemplars without a usable time */
  write(bytes: Uint8Array, pointTimeAt: number, context: PointContext): void {
    const list = context.exemplars;
    if (list === undefined) return;
    for (let index = 0; index < list.length; index += 1) {
      const scan = this.#scan;
      scan.read(bytes, list.start(index), list.end(index));
      const { starts } = scan;
      if (!scan.has(field.asDouble) && !scan.has(field.asInt)) continue;
      const block = this.#builder.block(exemplars);
      const { columns } = block;
      columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
      columns.metric.bytes(context.metric, 0, context.metric.length);
      columns.series_id.copy(context.seriesId.bytes(), 0);
      const hasTime =
        scan.has(field.timeUnixNano) && timeProblem(bytes, starts[field.timeUnixNano]!, context.group) === undefined;
      columns.time.copy(bytes, hasTime ? starts[field.timeUnixNano]! : pointTimeAt);
      columns.value.float(numberOf(bytes, scan, field));
      writeTraceIdOf(columns.trace_id, scan, field.traceId);
      writeSpanIdOf(columns.span_id, scan, field.spanId);
      this.#writer.write(
        { map: columns.attributes, types: columns.attribute_types },
        bytes,
        scan.list(field.filteredAttributes),
      );
      columns.days.unsigned(context.days);
      block.endRow();
      this.#builder.exemplars += 1;
    }
  }
}
