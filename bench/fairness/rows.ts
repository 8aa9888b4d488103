/** Spans and log records of two organizations, spread evenly over a day. */
import { BlockWriter } from "../../packages/server/src/store/block.ts";
import { logs, spans } from "../../packages/server/src/store/schema.ts";
import type { Store } from "../../packages/server/src/store/store.ts";
import { randomNumbers, writeMap } from "../promql/metric-samples.ts";

export interface RowsSize {
  readonly organizationId: string;
  /** Of each signal. */
  readonly count: number;
  readonly endMs: number;
}

const dayMs = 86_400_000;
const blockRows = 10_000;
const words = ["timeout", "order", "payment", "cart", "user", "retry", "upstream", "cache", "session", "invoice"];

export async function writeRows(store: Store, { count, endMs, organizationId }: RowsSize): Promise<void> {
  const random = randomNumbers(11);
  for (let from = 0; from < count; from += blockRows) {
    const spanWriter = new BlockWriter(spans);
    const logWriter = new BlockWriter(logs);
    for (let index = from; index < Math.min(count, from + blockRows); index++) {
      const row = { organizationId, index, endMs: endMs - dayMs + Math.ceil(((index + 1) * dayMs) / count), random };
      writeSpan(spanWriter, row);
      writeLog(logWriter, row);
    }
    const { rowCount } = spanWriter;
    await Promise.all([
      store.append({ organizationId, table: "spans", block: spanWriter.finish(), rowCount }),
      store.append({ organizationId, table: "logs", block: logWriter.finish(), rowCount }),
    ]);
  }
}

interface Row extends Pick<RowsSize, "organizationId" | "endMs"> {
  readonly index: number;
  readonly random: () => number;
}

const traceIdOf = (index: number): string => (0x1000_0000 + Math.floor(index / 5)).toString(16).padStart(32, "5");
const spanIdOf = (index: number): string => (0x1000_0000 + index).toString(16).padStart(16, "7");
const nano = (ms: number): bigint => BigInt(Math.round(ms * 1000)) * 1000n;

/** Five spans a trace, each the child of the one before. */
function writeSpan(writer: BlockWriter<(typeof spans)["columns"]>, row: Row): void {
  const { columns } = writer;
  const { endMs, index, organizationId, random } = row;
  const durationMs = 50 + 4000 * random() ** 3;
  columns.organization.text(organizationId);
  columns.project.text("default");
  columns.trace_id.text(traceIdOf(index));
  columns.span_id.text(spanIdOf(index));
  columns.parent_span_id.text(index % 5 === 0 ? "" : spanIdOf(index - 1));
  columns.name.text(`operation-${Math.floor(random() * 30)}`);
  columns.start_time.bigint(nano(endMs - durationMs));
  columns.end_time.bigint(nano(endMs));
  columns.status_code.unsigned(random() < 0.03 ? 2 : 0);
  columns.service.text(`service-${Math.floor(random() * 8)}`);
  columns.operation.text("chat");
  columns.request_model.text(`model-${Math.floor(random() * 6)}`);
  writeMap(columns.attributes, { "server.address": "api.example.com", "http.route": `/r${index % 50}` });
  columns.days.unsigned(30);
  writer.endRow();
}

function writeLog(writer: BlockWriter<(typeof logs)["columns"]>, row: Row): void {
  const { columns } = writer;
  const { endMs, index, organizationId, random } = row;
  const word = (): string => words[Math.floor(random() * words.length)]!;
  const severity = random() < 0.05 ? 17 : 9;
  columns.organization.text(organizationId);
  columns.project.text("default");
  columns.time.bigint(nano(endMs));
  columns.observed_time.bigint(nano(endMs));
  columns.record_id.bigint(BigInt(index));
  columns.severity_number.unsigned(severity);
  columns.service.text(`service-${Math.floor(random() * 8)}`);
  columns.trace_id.text(traceIdOf(index));
  columns.body.text(
    `${word()} ${word()} of user ${Math.floor(random() * 50_000)} took ${Math.floor(random() * 900)} ms`,
  );
  columns.body_type.text("s");
  columns.days.unsigned(30);
  writer.endRow();
}
