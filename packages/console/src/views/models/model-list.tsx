/** The list of models, by capability and name. */
import { useRef } from "preact/hooks";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { formatCount, formatDuration } from "../../design/format.ts";
import { Tabs } from "../../design/tabs.tsx";
import { href, parameter, setParameters } from "../../state/address.ts";
import { useEvery } from "../../state/use-every.ts";
import { useRowShortcuts } from "../../shell/use-row-shortcuts.ts";
import { ViewHeader } from "../../shell/view-header.tsx";
import { useQuery } from "../../api/use-query.ts";
import { loadModels, type Capability, type ModelData, type ModelRow } from "./model-rows.ts";
import { StateBadge } from "./model-state.tsx";
import { TryLinks } from "./try-links.tsx";

/** How often state and counts are read again. */
export const refreshMs = 5_000;

const capabilities = [
  { id: "chat", title: "Chat" },
  { id: "speech", title: "Speech" },
  { id: "transcription", title: "Transcription" },
  { id: "embeddings", title: "Embeddings" },
] as const satisfies readonly { readonly id: Capability; readonly title: string }[];

const selectedCapability = parameter("capability");
const searchText = parameter("search");

export function ModelList() {
  const query = useQuery(loadModels);
  useEvery(refreshMs, query.reload);
  const data = query.data.value;
  const search = searchText.value ?? "";
  return (
    <div class="view">
      <ViewHeader title="Models">
        <input
          class="input"
          type="search"
          aria-label="Search models"
          placeholder="Search models"
          value={search}
          onInput={(event) => setParameters({ search: event.currentTarget.value || undefined }, { replace: true })}
        />
      </ViewHeader>
      <CapabilityTabs rows={data?.rows} search={search} />
      {data === undefined ? (
        query.error.value === undefined ? (
          <Loading what="the models" />
        ) : (
          <ErrorState error={query.error.value} onRetry={query.reload} />
        )
      ) : (
        <FoundModels data={data} search={search} />
      )}
    </div>
  );
}

function CapabilityTabs({ rows, search }: { readonly rows: readonly ModelRow[] | undefined; readonly search: string }) {
  const kept = { search: search || undefined };
  const count = (capability?: Capability): string =>
    rows === undefined ? "" : ` (${formatCount(rows.filter((row) => does(row, capability)).length)})`;
  const tabs = [
    { id: "", title: `All${count()}`, address: href("models", kept) },
    ...capabilities.map(({ id, title }) => ({
      id,
      title: title + count(id),
      address: href("models", { ...kept, capability: id }),
    })),
  ];
  return <Tabs tabs={tabs} current={selectedCapability.value ?? ""} label="Capabilities" />;
}

function does({ capabilities: able }: ModelRow, capability: string | undefined): boolean {
  return capability === undefined || able.some((each) => each === capability);
}

function FoundModels({ data, search }: { readonly data: ModelData; readonly search: string }) {
  const capability = selectedCapability.value;
  const wanted = search.trim().toLowerCase();
  const found = data.rows.filter(
    (row) =>
      does(row, capability) && [row.id, row.engine, ...row.aliases].some((name) => name.toLowerCase().includes(wanted)),
  );
  return (
    <>
      {data.failedEngines.map(({ name, error }) => (
        <Notice key={name} kind="warning">
          The engine <strong class="foreign">{name}</strong> does not list its models:{" "}
          <span class="foreign">{error!.message}</span>
        </Notice>
      ))}
      {data.rows.length === 0 ? (
        <EmptyState title="No models yet" icon="models">
          <p>
            Set a vendor's key, such as <code>OPENAI_API_KEY</code>, in the environment of the server, or configure an
            engine.
          </p>
        </EmptyState>
      ) : found.length === 0 ? (
        <EmptyState title="No model matches">
          <p>No model has this name and capability.</p>
          <a class="button" href={href("models")}>
            Show all models
          </a>
        </EmptyState>
      ) : (
        <ModelTable rows={found} />
      )}
    </>
  );
}

function ModelTable({ rows }: { readonly rows: readonly ModelRow[] }) {
  const table = useRef<HTMLTableElement>(null);
  useRowShortcuts(table);
  const routed = rows.some((row) => row.routed !== undefined);
  return (
    <div class="models-frame">
      <table ref={table} class="table models-table">
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">State</th>
            <th scope="col" class="models-wide">
              Engine
            </th>
            {routed && (
              <>
                <th scope="col" class="number models-wide">
                  In flight
                </th>
                <th scope="col" class="number models-wide">
                  Errors, 15 min
                </th>
                <th scope="col" class="number models-wide">
                  p95
                </th>
              </>
            )}
            <th scope="col" class="models-wide">
              Try it
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row" class="models-name">
                <a data-row href={href(`models/${row.id}`)} class="foreign">
                  {row.id}
                </a>{" "}
                {row.routed?.hidden === true && <span class="badge">hidden</span>}
                {row.aliases.length > 0 && (
                  <span class="small muted models-aliases">
                    also <span class="foreign">{row.aliases.join(", ")}</span>
                  </span>
                )}
              </th>
              <td>
                <StateBadge model={row} />
              </td>
              <td class="models-wide">
                <span class="foreign">{row.engine}</span>
              </td>
              {routed && <RecentCells row={row} />}
              <td class="models-wide">
                {row.callable && <TryLinks id={row.id} capabilities={row.capabilities} quiet />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RecentCells({ row: { routed } }: { readonly row: ModelRow }) {
  const targets = routed?.targets ?? [];
  const sum = (of: (target: (typeof targets)[number]) => number): number =>
    targets.reduce((total, target) => total + of(target), 0);
  const calls = sum(({ recent }) => recent.calls);
  const errors = sum(({ recent }) => recent.errors.reduce((total, { count }) => total + count, 0));
  const slowest = Math.max(...targets.map(({ recent }) => recent.latency_ms?.p95 ?? -1));
  return (
    <>
      <td class="number models-wide">{formatCount(sum((target) => target.calls_in_flight))}</td>
      <td class={`number models-wide ${errors > 0 ? "models-errors" : "muted"}`}>
        {calls === 0 ? "–" : `${formatCount(errors)} of ${formatCount(calls)}`}
      </td>
      <td class="number models-wide">{slowest < 0 ? "–" : formatDuration(slowest)}</td>
    </>
  );
}
