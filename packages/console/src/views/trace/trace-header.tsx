/** What a trace is about: name, services, time, errors, models with tokens and cost; and what can be done with it. */
import { useMemo } from "preact/hooks";
import { CopyButton } from "../../design/copy-button.tsx";
import { formatCost, formatCount, formatDuration, formatTime } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { Fact } from "./fact.tsx";
import { PlaygroundLink } from "./playground-link.tsx";
import { callFacts, isChatCall } from "./span-facts.ts";
import type { TraceModel, TraceSpan } from "./trace-model.ts";
import type { TraceState } from "./trace-state.ts";
import { serviceColor } from "./waterfall-row.tsx";

const shownServices = 4;
const shownModels = 3;

export function TraceHeader({ state, growing }: { readonly state: TraceState; readonly growing: boolean }) {
  const model = state.model.value;
  const call = useMemo(() => firstCall(model), [model]);
  return (
    <>
      <ViewHeader title={<span class="foreign">{model.name.slice(0, 300) || "Trace without a name"}</span>}>
        {growing && (
          <span class="badge" title="New spans appear as they arrive">
            <Icon name="live" size={12} />
            Receiving
          </span>
        )}
        {call !== undefined && <PlaygroundLink traceId={model.id} spanId={call.id} />}
        <CopyButton text={() => location.href} label="Copy link" />
        <CopyButton text={model.id} label="Copy trace ID" />
      </ViewHeader>
      <dl class="trace-facts">
        <Fact name="Start">{formatTime(model.startMs, { millis: true })}</Fact>
        <Fact name="Duration">{formatDuration(model.durationNs / 1e6)}</Fact>
        <Fact name="Spans">{model.spans.length.toLocaleString("en")}</Fact>
        <Fact name="Errors">
          {model.errorCount === 0 ? "0" : <span class="badge error">{formatCount(model.errorCount)}</span>}
        </Fact>
        <Fact name={model.services.length === 1 ? "Service" : "Services"}>
          <Services model={model} />
        </Fact>
        {model.models.length > 0 && (
          <Fact name={model.models.length === 1 ? "Model" : "Models"}>
            <Models models={model.models} />
          </Fact>
        )}
        {model.cost !== null && <Fact name="Cost">{formatCost(model.cost)}</Fact>}
        {model.projects.length > 0 && (
          <Fact name={model.projects.length === 1 ? "Project" : "Projects"}>
            <span class="foreign">{model.projects.slice(0, 5).join(", ").slice(0, 300)}</span>
          </Fact>
        )}
      </dl>
    </>
  );
}

function Services({ model: { services } }: { readonly model: TraceModel }) {
  return (
    <span class="trace-services">
      {services.slice(0, shownServices).map((service, index) => (
        <span key={service} class="trace-service-name">
          <span class="trace-dot" style={{ background: serviceColor(index) }} />
          <span class="clip">{service.slice(0, 100)}</span>
        </span>
      ))}
      {services.length > shownServices && (
        <span class="muted" title={services.slice(shownServices, 50).join("\n").slice(0, 2_000)}>
          and {formatCount(services.length - shownServices)} more
        </span>
      )}
    </span>
  );
}

function Models({ models }: Pick<TraceModel, "models">) {
  return (
    <span class="trace-services">
      {models.slice(0, shownModels).map(({ model, calls, inputTokens, outputTokens }) => (
        <span key={model} class="trace-service-name">
          <span class="clip">{model.slice(0, 100)}</span>
          <span class="muted">
            {calls > 1 && `${formatCount(calls)} calls · `}
            {inputTokens + outputTokens > 0
              ? `${formatCount(inputTokens)} → ${formatCount(outputTokens)} tokens`
              : calls === 1 && "1 call"}
          </span>
        </span>
      ))}
      {models.length > shownModels && <span class="muted">and {formatCount(models.length - shownModels)} more</span>}
    </span>
  );
}

function firstCall({ spans }: TraceModel): TraceSpan | undefined {
  return spans.find(({ raw }) => isChatCall(callFacts(raw)));
}
