/** The playground: a tab for each kind of model that the signed-in key may call. */
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { LoadedView } from "../../shell/loaded-view.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { href, navigate, viewPath } from "../../state/address.ts";
import type { Capability, PlaygroundModel, PlaygroundProps } from "./playground-model.ts";

interface Part {
  readonly id: Capability;
  readonly title: string;
  readonly load: () => Promise<ComponentType<PlaygroundProps>>;
}

const parts: readonly Part[] = [
  { id: "chat", title: "Chat", load: async () => (await import("./chat/chat-playground.tsx")).ChatPlayground },
  {
    id: "speech",
    title: "Speech",
    load: async () => (await import("./speech/speech-playground.tsx")).SpeechPlayground,
  },
  {
    id: "transcription",
    title: "Transcription",
    load: async () => (await import("./transcription/transcription-playground.tsx")).TranscriptionPlayground,
  },
];

export function PlaygroundView() {
  const { data, error, reload } = useQuery((signal) =>
    requestJson<{ readonly data: readonly PlaygroundModel[] }>("v1/models", { signal }),
  );
  const models = data.value?.data ?? [];
  const offered = parts.filter(({ id }) => models.some(({ capabilities }) => capabilities.includes(id)));
  const part = parts.find(({ id }) => id === viewPath.value);
  const first = offered[0];
  useEffect(() => {
    if (part === undefined && first !== undefined)
      navigate(href(`playground/${first.id}`) + location.search, { replace: true });
  }, [part, first]);
  return (
    <div class="view fixed playground">
      <ViewHeader title="Playground" />
      {data.value === undefined ? (
        error.value === undefined ? (
          <Loading what="the models" />
        ) : (
          <ErrorState error={error.value} onRetry={reload} />
        )
      ) : first === undefined ? (
        <EmptyState title="No model to try" icon="models">
          <p>
            The server offers no model to your key. Add one to the server's configuration, or download one with{" "}
            <code>sounding models pull</code>, then reload this page.
          </p>
        </EmptyState>
      ) : (
        <>
          <Tabs
            label="Kinds of models"
            current={viewPath.value}
            tabs={offered.map(({ id, title }) => ({ id, title, address: href(`playground/${id}`) }))}
          />
          <div class="playground-part">
            {part !== undefined && <PlaygroundPart key={part.id} part={part} models={models} />}
          </div>
        </>
      )}
    </div>
  );
}

function PlaygroundPart({ part, models }: { readonly part: Part; readonly models: readonly PlaygroundModel[] }) {
  const usable = models.filter(({ capabilities }) => capabilities.includes(part.id));
  if (usable.length === 0) {
    return (
      <EmptyState title={`No model for ${part.title.toLowerCase()}`} icon="models">
        <p>None of the models that your key may call can do this.</p>
      </EmptyState>
    );
  }
  return <LoadedView title={part.title} load={part.load} props={{ models: usable }} />;
}
