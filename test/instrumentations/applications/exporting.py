"""Exports an application's spans by OTLP, and asks the questions that every application asks."""

import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.httpx import HTTPX2ClientInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

QUESTION = "What is a fathom?"
MODEL = "assistant"
# The server does not know this model, so the call fails.
UNKNOWN_MODEL = "nobody"


def start_exporting() -> TracerProvider:
    """The service name and the destination come from OTEL_… variables. TRACE_HTTP adds spans of HTTP requests, which
    pass the trace on to the server."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    if os.environ["TRACE_HTTP"] == "yes":
        HTTPX2ClientInstrumentor().instrument()
    return provider
