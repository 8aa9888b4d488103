/** Everything that is known of one span: its call, its content, attributes, events, links, and where it comes from. */
import { formatCost, formatCount, formatDuration } from "../../design/format.ts";
import { CopyButton } from "../../design/copy-button.tsx";
import { Icon } from "../../design/icons.tsx";
import { Notice } from "../../design/states.tsx";
import { ClippedText } from "../../design/clipped-text.tsx";
import { href } from "../../state/address.ts";
import { AttributeTable } from "./attribute-table.tsx";
import { Fact } from "./fact.tsx";
import { PlaygroundLink } from "./playground-link.tsx";
import { SpanContent } from "./span-content.tsx";
import { SpanEvents } from "./span-events.tsx";
import { callFacts, isChatCall, type CallFacts } from "./span-facts.ts";
import { SpanLinks } from "./span-links.tsx";
import type { TraceModel, TraceSpan } from "./trace-model.ts";
import type { TraceState } from "./trace-state.ts";
import { serviceColor } from "./waterfall-row.tsx";

export function SpanDetails({ span, state }: { readonly span: TraceSpan; readonly state: TraceState }) {
  const model = state.model.value;
  const { raw, resource, scope } = span;
  const facts = callFacts(raw);
  return (
    <aside class="trace-details" aria-label="Span details">
      <header class="trace-details-head">
        <div class="trace-details-title">
          <h2 class="foreign">{span.name.slice(0, 300) || "(no name)"}</h2>
          <CopyButton text={span.id} label="Copy span ID" iconOnly />
          <button
            type="button"
            class="button quiet icon-only"
            aria-label="Close the details"
            onClick={() => state.closeDetails()}
          >
            <Icon name="close" />
          </button>
        </div>
        <div class="row">
          <span class="trace-service-name">
            <span class="trace-dot" style={{ background: serviceColor(span.serviceIndex) }} />
            <span class="clip">{span.service.slice(0, 200)}</span>
          </span>
          {kindOf(raw.kind) !== undefined && <span class="badge">{kindOf(raw.kind)}</span>}
          {span.failed && <span class="badge error">Failed</span>}
        </div>
      </header>
      <div class="trace-details-body" tabIndex={0} role="region" aria-label="Content of the span">
        <dl class="trace-facts">
          <Facts span={span} facts={facts} cost={facts.cost ?? costOfOnlyCall(model, facts)} />
        </dl>
        <div class="row">
          {isChatCall(facts) && <PlaygroundLink traceId={model.id} spanId={span.id} />}
          <button type="button" class="button" onClick={() => zoomToSpan(span, state)}>
            Zoom to span
          </button>
        </div>
        <Remarks span={span} state={state} />
        {span.failed && raw.status?.message !== undefined && (
          <Notice kind="error">
            <ClippedText text={raw.status.message} limit={1_000} />
          </Notice>
        )}
        <SpanContent span={span} facts={facts} />
        <SpanEvents span={span} traceStartUnixNano={model.startUnixNano} />
        <AttributeTable title="Generative AI" attributes={raw.attributes} kind="genai" />
        <AttributeTable title="Attributes" attributes={raw.attributes} kind="other" />
        {(raw.droppedAttributesCount ?? 0) > 0 && (
          <p class="small muted">The sender dropped {formatCount(raw.droppedAttributesCount!)} attributes.</p>
        )}
        <SpanLinks span={span} traceId={model.id} />
        <AttributeTable title="Resource" attributes={resource.attributes} kind="all" closed />
        <AttributeTable
          title={`Scope ${scope.name ?? ""} ${scope.version ?? ""}`.trim().slice(0, 200)}
          attributes={scope.attributes}
          kind="all"
          closed
        />
      </div>
    </aside>
  );
}

/** The API prices traces: if a trace has one call, that is the price of the call. */
function costOfOnlyCall({ models, cost }: TraceModel, facts: CallFacts): number | undefined {
  const isOnly = models.length === 1 && models[0]!.calls === 1;
  return isOnly && isChatCall(facts) && facts.outputTokens !== undefined ? (cost ?? undefined) : undefined;
}

function Facts({
  span,
  facts,
  cost,
}: {
  readonly span: TraceSpan;
  readonly facts: CallFacts;
  readonly cost: number | undefined;
}) {
  const tokens = [
    facts.inputTokens !== undefined && `${formatCount(facts.inputTokens)} in`,
    facts.outputTokens !== undefined && `${formatCount(facts.outputTokens)} out`,
  ].filter((each) => each !== false);
  const further = [
    facts.cachedTokens !== undefined && facts.cachedTokens > 0 && `${formatCount(facts.cachedTokens)} from cache`,
    facts.reasoningTokens !== undefined &&
      facts.reasoningTokens > 0 &&
      `${formatCount(facts.reasoningTokens)} reasoning`,
  ].filter((each) => each !== false);
  return (
    <>
      <Fact name="Duration">{formatDuration((span.endNs - span.startNs) / 1e6)}</Fact>
      <Fact name="Start">
        {span.startNs < 0 ? "−" : "+"}
        {formatDuration(Math.abs(span.startNs) / 1e6)}
      </Fact>
      {facts.model !== undefined && (
        <Fact name="Model">
          <span class="foreign">{facts.model.slice(0, 200)}</span>
        </Fact>
      )}
      {tokens.length > 0 && (
        <Fact name="Tokens">
          {tokens.join(" · ")}
          {further.length > 0 && <span class="muted"> ({further.join(", ")})</span>}
        </Fact>
      )}
      {cost !== undefined && <Fact name="Cost">{formatCost(cost)}</Fact>}
      {facts.timeToFirstTokenMs !== undefined && (
        <Fact name={facts.operation === "speech" ? "Time to first audio" : "Time to first token"}>
          {formatDuration(facts.timeToFirstTokenMs)}
        </Fact>
      )}
      {facts.finishReasons !== undefined && (
        <Fact name="Finish reason">
          <span class="foreign">{facts.finishReasons.slice(0, 200)}</span>
        </Fact>
      )}
    </>
  );
}

/** What is unusual about a span's place in the trace. */
function Remarks({ span, state }: { readonly span: TraceSpan; readonly state: TraceState }) {
  const parent = state.model.value.spans[span.parent];
  if (span.detached === "missing") {
    return (
      <Notice>
        The parent span <code>{span.parentId}</code> is not in this trace. It may still arrive, or its sender does not
        export it.
      </Notice>
    );
  }
  if (span.detached === "cycle") {
    return <Notice>This span names one of its descendants as its parent, so it is shown as a root.</Notice>;
  }
  if (parent === undefined) return null;
  const early = parent.startNs - span.startNs;
  return (
    <>
      <p class="small trace-parent">
        <span class="muted">Parent: </span>
        <a class="clip" href={href(`traces/${state.model.value.id}`, { span: parent.key })}>
          {parent.name.slice(0, 200) || "(no name)"}
        </a>
      </p>
      {early > 0 && (
        <Notice>
          It starts {formatDuration(early / 1e6)} before its parent
          {parent.service === span.service ? "." : ". The clocks of the two services may differ."}
        </Notice>
      )}
    </>
  );
}

const kinds: Readonly<Record<string, string>> = {
  SPAN_KIND_SERVER: "Server",
  SPAN_KIND_CLIENT: "Client",
  SPAN_KIND_PRODUCER: "Producer",
  SPAN_KIND_CONSUMER: "Consumer",
};

function kindOf(kind: string | number | undefined): string | undefined {
  return kinds[String(kind)];
}

/** With some of what is around it. */
function zoomToSpan({ startNs, endNs }: TraceSpan, state: TraceState): void {
  const margin = Math.max(50, (endNs - startNs) * 0.1);
  state.zoomTo({ startNs: startNs - margin, endNs: endNs + margin });
}
