/** The sizes of records, and of what describes many of them. */
import { inputLimit } from "../../input-limits.ts";

/** It is decoded without yielding. */
export const maxRecordBytes = inputLimit({
  area: "OpenTelemetry data",
  bounds: "One span, log record or data point",
  value: 3_145_728,
  unit: "bytes",
  error: { instead: "the record is rejected, the others are stored" },
});

/** Queries repeat a resource's attributes for each record or series; Loki limits the metadata of a line to the same size. */
export const maxDescriptionBytes = inputLimit({
  area: "OpenTelemetry data",
  bounds: "One resource or instrumentation scope, with its attributes",
  value: 65_536,
  unit: "bytes",
  error: { instead: "its records are rejected, the others are stored" },
});
