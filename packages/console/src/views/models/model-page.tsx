/** One model: whether it answers, where its calls go, how it does, its voices, and how to call it. */
import { useSignal } from "@preact/signals";
import { useQuery } from "../../api/use-query.ts";
import { CodeBlock } from "../../design/code-block.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { Icon } from "../../design/icons.tsx";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { ProjectSelect } from "../../shell/project-select.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { href } from "../../state/address.ts";
import { may } from "../../state/session.ts";
import { useEvery } from "../../state/use-every.ts";
import { callExamples } from "./call-examples.ts";
import { ModelCharts } from "./model-charts.tsx";
import { refreshMs } from "./model-list.tsx";
import { loadModel, type Capability, type ModelRow } from "./model-rows.ts";
import { StateBadge } from "./model-state.tsx";
import { ModelVoices } from "./model-voices.tsx";
import { TargetsTable } from "./targets-table.tsx";
import { TryLinks } from "./try-links.tsx";

const capabilityNames = {
  chat: "Chat",
  speech: "Speech",
  transcription: "Transcription",
  embeddings: "Embeddings",
} as const;

export function ModelPage({ id }: { readonly id: string }) {
  // In an object, since a model that does not exist is a result too.
  const query = useQuery((signal) => loadModel(id, signal).then((found) => ({ found })), [id]);
  useEvery(refreshMs, query.reload);
  const loaded = query.data.value;
  const model = loaded?.found;
  return (
    <div class="view">
      <a class="models-back" href={href("models")}>
        <Icon name="left" size={12} />
        All models
      </a>
      <ViewHeader title={<span class="foreign">{id}</span>} time={may("telemetry_read") && model !== undefined}>
        <CopyButton text={id} label="Copy the model ID" iconOnly />
        {model?.callable === true && <TryLinks id={id} capabilities={model.capabilities} />}
      </ViewHeader>
      {model !== undefined ? (
        <Content model={model} id={id} />
      ) : query.error.value !== undefined ? (
        <ErrorState error={query.error.value} onRetry={query.reload} />
      ) : loaded === undefined ? (
        <Loading what="the model" />
      ) : (
        <UnknownModel />
      )}
    </div>
  );
}

function UnknownModel() {
  return (
    <EmptyState title="No such model" icon="models">
      <p>It does not exist, was removed, or your organization may not call it.</p>
      <a class="button" href={href("models")}>
        Show all models
      </a>
    </EmptyState>
  );
}

function Content({ model, id }: { readonly model: ModelRow; readonly id: string }) {
  const { routed, reason, capabilities } = model;
  return (
    <>
      {reason !== null && (
        <Notice kind="error">
          The model is unavailable: <span class="foreign">{reason}</span>
        </Notice>
      )}
      <Summary model={model} id={id} />
      {routed !== undefined && (
        <section class="stack" aria-labelledby="models-targets-title">
          <div class="row">
            <h2 id="models-targets-title">Targets</h2>
            <span class="small muted">attempts of the last 15 minutes at this server, for all organizations</span>
          </div>
          <TargetsTable targets={routed.targets} />
        </section>
      )}
      {may("telemetry_read") && (
        <section class="stack" aria-labelledby="models-charts-title">
          <div class="row">
            <h2 id="models-charts-title">Your calls</h2>
            <span class="spread">
              <ProjectSelect />
            </span>
          </div>
          <ModelCharts ids={[model.id, ...model.aliases]} chats={capabilities.includes("chat")} />
        </section>
      )}
      {capabilities.includes("speech") && model.callable && (
        <section class="stack" aria-labelledby="models-voices-title">
          <h2 id="models-voices-title">Voices</h2>
          <ModelVoices model={model.id} />
        </section>
      )}
      {model.callable && <Examples id={id} capabilities={capabilities} />}
    </>
  );
}

function Summary({ model, id }: { readonly model: ModelRow; readonly id: string }) {
  const { routed } = model;
  const others = [model.id, ...model.aliases].filter((each) => each !== id);
  const retries = routed?.retries;
  return (
    <dl class="card models-summary">
      <Fact name="State">
        <StateBadge model={model} />
      </Fact>
      <Fact name="Used for">{model.capabilities.map((each) => capabilityNames[each]).join(", ")}</Fact>
      <Fact name="Engine">
        <span class="foreign">{model.engine}</span>
      </Fact>
      {others.length > 0 && (
        <Fact name="Other IDs">
          <span class="foreign">{others.join(", ")}</span>
        </Fact>
      )}
      {routed !== undefined && (
        <>
          <Fact name="Origin">{routed.configured ? "Configured" : "Discovered"}</Fact>
          <Fact name="Listed">{routed.hidden ? "No (hidden)" : "Yes"}</Fact>
          <Fact name="Fallbacks">
            {routed.fallbacks.length === 0
              ? "None"
              : routed.fallbacks.map((fallback, index) => (
                  <span key={fallback}>
                    {index > 0 && ", then "}
                    <a class="foreign" href={href(`models/${fallback}`)}>
                      {fallback}
                    </a>
                  </span>
                ))}
          </Fact>
          <Fact name="Retries">
            {retries!.attempts === 0 ? "None" : `up to ${retries!.attempts}, from ${retries!.backoff_ms} ms`}
          </Fact>
        </>
      )}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Examples({ id, capabilities }: { readonly id: string; readonly capabilities: readonly Capability[] }) {
  const chosen = useSignal<Capability | undefined>(undefined);
  const capability = chosen.value ?? capabilities[0];
  if (capability === undefined) return null;
  return (
    <section class="stack" aria-labelledby="models-code-title">
      <div class="row">
        <h2 id="models-code-title">Call it</h2>
        {capabilities.length > 1 &&
          capabilities.map((each) => (
            <button
              key={each}
              type="button"
              class="button quiet"
              aria-pressed={each === capability}
              onClick={() => (chosen.value = each)}
            >
              {capabilityNames[each]}
            </button>
          ))}
      </div>
      <div class="models-code">
        {callExamples(capability, id).map(({ language, code }) => (
          <CodeBlock key={language} code={code} label={language} />
        ))}
      </div>
    </section>
  );
}
