/** The explorer: queries in PromQL, and their result as a chart or a table. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../../api/request.ts";
import type { EditorProblem } from "../../editor/code-editor.ts";
import { Icon } from "../../design/icons.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { session } from "../../state/session.ts";
import { moments, refresh } from "../../state/time-range.ts";
import { CurlDialog } from "./curl-dialog.tsx";
import { ExampleQueries } from "./example-queries.tsx";
import { maximumQueries, queries, setQueries } from "./metrics-address.ts";
import { QueryField } from "./query-field.tsx";
import { rememberQuery } from "./query-history.ts";
import { ResultControls } from "./result-controls.tsx";
import { ResultPanel } from "./result-panel.tsx";
import { letterOf, type ResultOfQuery } from "./result-series.ts";
import { useResults } from "./use-results.ts";

export function Explorer() {
  const ran = queries.value ?? [];
  const drafts = useSignal<readonly string[]>(ran.length === 0 ? [""] : ran);
  const showsCurl = useSignal(false);
  // Back, forward and links change the queries from outside.
  useEffect(() => {
    if (!isSame(drafts.peek(), ran)) drafts.value = ran.length === 0 ? [""] : ran;
  }, [JSON.stringify(ran)]);
  const { times, results, exemplars, metadata, onWidth } = useResults();
  const run = (texts: readonly string[] = drafts.value): void => {
    const filled = texts.filter((text) => text.trim() !== "");
    drafts.value = filled.length === 0 ? [""] : filled;
    for (const text of filled) rememberQuery(session.value?.organization_id ?? "", text);
    if (isSame(filled, queries.peek() ?? [])) refresh();
    else setQueries(filled);
  };
  useShortcuts(() => [{ keys: "mod+Enter", description: "Run the queries", group: "This view", run: () => run() }]);
  const found = results.data.value ?? [];
  const hasQueries = ran.some((query) => query.trim() !== "");
  return (
    <div class="stack">
      <section class="metrics-queries" aria-label="Queries">
        {drafts.value.map((draft, index) => (
          <QueryField
            key={index}
            letter={drafts.value.length > 1 ? letterOf(index) : undefined}
            text={draft}
            problem={problemOf(found.find(({ query }) => query === draft))}
            autofocus={draft === "" && index === drafts.value.length - 1}
            onChange={(text) => (drafts.value = drafts.value.with(index, text))}
            onRun={() => run()}
            onSelect={(text) => run(drafts.value.with(index, text))}
            onRemove={drafts.value.length > 1 ? () => run(drafts.value.toSpliced(index, 1)) : undefined}
          />
        ))}
        <div class="row">
          {results.loading.value && hasQueries ? (
            <button type="button" class="button metrics-run" onClick={results.cancel}>
              <Icon name="stop" />
              Cancel
            </button>
          ) : (
            <button type="button" class="button primary metrics-run" onClick={() => run()}>
              <Icon name="play" />
              Run
            </button>
          )}
          <button
            type="button"
            class="button"
            disabled={drafts.value.length >= maximumQueries}
            onClick={() => (drafts.value = [...drafts.value, ""])}
          >
            <Icon name="plus" />
            Add query
          </button>
          <button type="button" class="button quiet" disabled={!hasQueries} onClick={() => (showsCurl.value = true)}>
            <Icon name="copy" />
            Show as curl
          </button>
        </div>
      </section>
      {hasQueries ? (
        <>
          <ResultControls stepMs={times.value.stepMs} />
          <ResultPanel
            results={results}
            times={times.value}
            exemplars={exemplars.data.value ?? []}
            metadata={metadata.data.value ?? {}}
            onWidth={onWidth}
          />
        </>
      ) : (
        <ExampleQueries onSelect={(text) => run([text])} />
      )}
      {showsCurl.value && (
        <CurlDialog
          queries={ran}
          times={times.value}
          timeMs={moments.value.endMs}
          onClose={() => (showsCurl.value = false)}
        />
      )}
    </div>
  );
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}

/** The server's error with its position: `1:5: parse error: …`. */
function problemOf(result: ResultOfQuery | undefined): EditorProblem | undefined {
  if (!(result?.error instanceof ApiError) || result.error.status !== 400) return undefined;
  const { message } = result.error;
  const { line = "1", column = "1" } = /(?<line>\d+):(?<column>\d+): parse error/.exec(message)?.groups ?? {};
  const before = result.query.split("\n").slice(0, Number(line) - 1);
  const at = before.reduce((length, each) => length + each.length + 1, 0) + Number(column) - 1;
  return { text: result.query, message, at };
}
