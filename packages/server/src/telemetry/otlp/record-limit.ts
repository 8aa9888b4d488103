/** The size of what is decoded without yielding. */
import { inputLimit } from "../../input-limits.ts";

export const maxRecordBytes = inputLimit({
  area: "OpenTelemetry data",
  bounds: "One span, log record or data point",
  value: 3_145_728,
  unit: "bytes",
  error: { instead: "the record is rejected, the others are stored" },
});
