/** The events of a span: exceptions with their stack traces first, then the others in order of time. */
import { ClippedText } from "../../design/clipped-text.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { formatCount, formatDuration } from "../../design/format.ts";
import { plainAttributes, valueText } from "../../genai/any-value.ts";
import { AttributeList } from "./attribute-table.tsx";
import { Section } from "./section.tsx";
import type { TempoEvent } from "./tempo-json.ts";
import type { TraceSpan } from "./trace-model.ts";

const mostEvents = 200;

export function SpanEvents({
  span: { key, raw },
  traceStartUnixNano,
}: {
  readonly span: TraceSpan;
  readonly traceStartUnixNano: bigint;
}) {
  const events = raw.events ?? [];
  const exceptions = events.filter(({ name }) => name === "exception");
  const others = events.filter(({ name }) => name !== "exception");
  return (
    <>
      {exceptions.slice(0, mostEvents).map((event, index) => (
        <Exception key={`${key} ${index}`} event={event} />
      ))}
      {others.length > 0 && (
        <Section key={`${key} events`} title="Events" count={others.length}>
          {others.slice(0, mostEvents).map((event, index) => (
            <div key={index} class="trace-event">
              <h3>
                <span class="foreign">{(event.name ?? "").slice(0, 300) || "(no name)"}</span>
                <span class="muted small"> {offsetOf(event, traceStartUnixNano)}</span>
              </h3>
              <AttributeList attributes={event.attributes ?? []} />
            </div>
          ))}
          {others.length > mostEvents && (
            <p class="small muted">
              These are the first {mostEvents} of {formatCount(others.length)} events; the raw JSON has all of them.
            </p>
          )}
        </Section>
      )}
      {(raw.droppedEventsCount ?? 0) > 0 && (
        <p class="small muted">The sender dropped {formatCount(raw.droppedEventsCount!)} events.</p>
      )}
    </>
  );
}

function offsetOf({ timeUnixNano }: TempoEvent, traceStartUnixNano: bigint): string {
  if (timeUnixNano === undefined) return "";
  const ns = Number(BigInt(timeUnixNano) - traceStartUnixNano);
  return `${ns < 0 ? "−" : "+"}${formatDuration(Math.abs(ns) / 1e6)}`;
}

function Exception({ event }: { readonly event: TempoEvent }) {
  const {
    "exception.type": type,
    "exception.message": message,
    "exception.stacktrace": stack,
    ...others
  } = plainAttributes(event.attributes);
  const further = (event.attributes ?? []).filter(({ key }) => key in others);
  const stackText = valueText(stack);
  return (
    <section class="trace-exception" aria-label="Exception">
      <h3 class="foreign">{valueText(type).slice(0, 300) || "Exception"}</h3>
      {message !== undefined && <ClippedText text={valueText(message)} limit={1_000} />}
      {stackText !== "" && <StackTrace text={stackText} />}
      <AttributeList attributes={further} />
    </section>
  );
}

/** Longer stack traces are shown as text that opens. */
const mostLines = 300;
const longestStack = 50_000;

/** Lines of other people's code are paler. */
const libraryLine =
  /node_modules|node:internal|site-packages|dist-packages|[/\\]lib[/\\]python|<frozen |\/rustc\/|java\.base\//;

function StackTrace({ text }: { readonly text: string }) {
  const lines = text.split(/\r?\n/);
  const plain = lines.length > mostLines || text.length > longestStack;
  return (
    <figure class="code-block">
      <figcaption>
        <span>Stack trace</span>
        <CopyButton text={text} label="Copy the stack trace" iconOnly />
      </figcaption>
      <pre class="trace-stack" tabIndex={0} dir="ltr">
        {plain ? (
          <ClippedText text={text} limit={10_000} />
        ) : (
          lines.map((line, index) => (
            <span key={index} class={libraryLine.test(line) ? "muted" : ""}>
              {line}
              {"\n"}
            </span>
          ))
        )}
      </pre>
    </figure>
  );
}
