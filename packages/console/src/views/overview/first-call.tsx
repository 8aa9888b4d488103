/** An empty server: three things to try, and the wait for the first trace, which is opened as soon as it arrives. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { apiRoot, requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { CodeBlock } from "../../design/code-block.tsx";
import { href, navigate } from "../../state/address.ts";
import { may } from "../../state/session.ts";
import { examplesOf, type Example } from "./first-call-examples.ts";

const pollMs = 1_000;

interface ModelList {
  readonly data: readonly { readonly id: string }[];
}

export function FirstCall() {
  const models = useQuery((signal) =>
    may("inference") ? requestJson<ModelList>("v1/models", { query: { capability: "chat" }, signal }) : undefined,
  );
  useFirstTrace();
  const examples = examplesOf(apiRoot.href.replace(/\/$/, ""), models.data.value?.data[0]?.id ?? "sounding-trial");
  return (
    <div class="first-call">
      <div class="first-call-wait" role="status">
        <span class="spinner" aria-hidden="true" />
        <div>
          <h2>Waiting for your first call…</h2>
          <p class="muted">Its trace opens here as soon as the call has ended.</p>
        </div>
      </div>
      <ol class="first-call-steps">
        <li class="card stack">
          <div>
            <h3>Call a model</h3>
            <p class="muted">
              In a terminal, with your API key in <code>SOUNDING_API_KEY</code>. In the folder of the server,{" "}
              <code>export SOUNDING_API_KEY=$(npx sounding whoami --print-key)</code> sets it.
            </p>
          </div>
          <Examples examples={examples.calls} />
        </li>
        <li class="card stack">
          <div>
            <h3>Send telemetry of your application</h3>
            <p class="muted">OpenTelemetry SDKs read these variables, so the application does not change.</p>
          </div>
          <Examples examples={examples.telemetry} />
        </li>
        <li class="card stack">
          <div>
            <h3>Look around with sample data</h3>
            <p class="muted">An hour of a sample support desk. The command also deletes it again, and nothing else.</p>
          </div>
          <Examples examples={examples.demo} />
          {may("inference") && (
            <p>
              Or try a model right here, in the <a href={href("playground/chat")}>playground</a>.
            </p>
          )}
        </li>
      </ol>
    </div>
  );
}

/** Code in one of several languages. */
function Examples({ examples }: { readonly examples: readonly Example[] }) {
  const selected = useSignal(0);
  const example = examples[selected.value]!;
  return (
    <div class="stack">
      {examples.length > 1 && (
        <div class="row" role="group" aria-label="Language">
          {examples.map(({ title }, index) => (
            <button
              key={title}
              type="button"
              class="button"
              aria-pressed={index === selected.value}
              onClick={() => (selected.value = index)}
            >
              {title}
            </button>
          ))}
        </div>
      )}
      <CodeBlock code={example.code} label={example.title} />
    </div>
  );
}

/** Opens the first trace of the organization when it has arrived. */
function useFirstTrace(): void {
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      const json = { trace: "all_traces", time_window: "1h", detail: false, limit: 1 };
      try {
        const { traces } = await requestJson<{ traces: { traceID: string }[] }>("observability/traces", {
          json,
          signal,
        });
        if (traces[0] !== undefined) return navigate(href(`traces/${traces[0].traceID}`));
      } catch {
        // The next attempt may succeed; the server's health is shown below.
      }
      if (!signal.aborted) timer = setTimeout(() => void look(), pollMs);
    };
    void look();
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, []);
}
