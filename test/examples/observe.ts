// Prints the newest errors, and the spans of the newest trace with a model call.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();

const logs = await sounding.logs.query({ severity: "error", time_window: "1h", limit: 10 });
for (const { stream, values_in_seconds } of logs.samples) {
  for (const [seconds, message] of values_in_seconds) {
    console.log(new Date(seconds * 1000).toISOString(), stream["service_name"], message);
  }
}

const traces = await sounding.traces.query({ trace: "inference_traces", limit: 1 });
console.log(`${traces["status"]}: ${traces["traces"].length} traces, ${traces["batches"].length} batches`);
for (const span of traces.spans) {
  console.log(span.name, span.status.code ?? "unset");
}
