/**
 * An application without any reference to Sounding: OpenTelemetry's Node SDK, configured only by environment variables.
 * Started as its own process by sdk-interop.test.ts.
 */
import { logs, metrics, SeverityNumber, SpanStatusCode, trace } from "@opentelemetry/api";
import { NodeSDK } from "@opentelemetry/sdk-node";

const sdk = new NodeSDK();
sdk.start();

const tracer = trace.getTracer("agent-runtime", "1.2.3");
tracer.startActiveSpan("invoke_agent helper", (agent) => {
  agent.setAttributes({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper" });
  tracer.startActiveSpan("chat gpt-4o", (span) => {
    span.setAttributes({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.usage.input_tokens": 812,
      "gen_ai.response.finish_reasons": ["stop", "length"],
      temperature: 0.5,
      cached: false,
    });
    span.addEvent("first token", { delay_ms: 12 });
    span.recordException(new Error("too late"));
    span.setStatus({ code: SpanStatusCode.ERROR, message: "too late" });
    logs.getLogger("agent-runtime").emit({
      severityNumber: SeverityNumber.ERROR,
      severityText: "ERROR",
      body: "the model was too late",
      attributes: { attempt: 2 },
    });
    span.end();
  });
  agent.end();
});

const meter = metrics.getMeter("agent-runtime");
meter.createCounter("requests", { unit: "{request}", description: "Requests" }).add(3, { model: "gpt-4o" });
meter.createHistogram("latency", { unit: "s" }).record(0.25, { model: "gpt-4o" });
meter.createObservableGauge("queue").addCallback((result) => result.observe(7.5));

await sdk.shutdown();
