/** Models that are unavailable and, for an operator, the health of the server and the telemetry that it receives. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { formatCount } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { href } from "../../state/address.ts";
import { may, session } from "../../state/session.ts";

interface ReceivedRows {
  readonly spans: number;
  readonly log_records: number;
  readonly points: number;
}

interface ServerState {
  readonly checks: Readonly<Record<string, string>>;
  readonly received: ReceivedRows;
}

interface ModelList {
  readonly data: readonly { readonly id: string; readonly state: string; readonly state_reason: string | null }[];
}

interface Sample {
  readonly atMs: number;
  readonly rows: ReceivedRows;
}

const intervalMs = 10_000;

const checkTitles: Readonly<Record<string, string>> = {
  control_database: "Control database",
  control_database_writes: "Control database, writes",
  telemetry_data: "Stored telemetry",
  data_disk: "Disk space",
  telemetry_store: "Telemetry store",
};

export function ServerHealth() {
  const isOperator = session.value?.operator === true;
  const health = useSignal<ServerState | Error | undefined>(undefined);
  const models = useSignal<ModelList["data"]>([]);
  const samples = useSignal<readonly Sample[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const read = async () => {
      if (document.hidden) return;
      const [state, list] = await Promise.all([
        isOperator ? requestJson<ServerState>("admin/v1/server", { signal }) : undefined,
        may("models_read") ? requestJson<ModelList>("v1/models", { signal }) : { data: [] },
      ]);
      health.value = state;
      models.value = list.data.filter((model) => model.state === "unavailable");
      if (state === undefined) return;
      samples.value = [...samples.value.slice(-1), { atMs: performance.now(), rows: state.received }];
    };
    const refresh = () => void read().catch((error: Error) => signal.aborted || (health.value = error));
    refresh();
    const timer = setInterval(refresh, intervalMs);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, []);
  const rates = ratesOf(samples.value);
  if (!isOperator && models.value.length === 0) return null;
  const title = isOperator ? "Server" : "Unavailable models";
  return (
    <section class="card overview-health" aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {health.value instanceof Error ? (
          <Check name="Server" problem={health.value.message} />
        ) : (
          Object.entries(health.value?.checks ?? {}).map(([name, result]) => (
            <Check
              key={name}
              name={checkTitles[name] ?? name.replaceAll("_", " ")}
              problem={result === "ok" ? undefined : result}
            />
          ))
        )}
        {models.value.map(({ id, state_reason: reason }) => (
          <Check key={id} name={id} problem={reason ?? "unavailable"} address={href(`models/${id}`)} />
        ))}
        {isOperator &&
          (["spans", "log_records", "points"] as const).map((kind) => (
            <li key={kind}>
              <span class="muted">{rowTitles[kind]}</span>
              <span>{rates === undefined ? "…" : `${formatCount(rates[kind])} per second`}</span>
            </li>
          ))}
      </ul>
    </section>
  );
}

const rowTitles = { spans: "Spans received", log_records: "Log records received", points: "Metric points received" };

function Check({
  name,
  problem,
  address,
}: {
  readonly name: string;
  readonly problem: string | undefined;
  readonly address?: string;
}) {
  return (
    <li>
      <span class="muted">{address === undefined ? name : <a href={address}>{name}</a>}</span>
      <span class={`badge ${problem === undefined ? "success" : "error"}`}>
        <Icon name={problem === undefined ? "check" : "warning"} size={12} />
        {problem === undefined ? "ok" : "problem"}
      </span>
      {problem !== undefined && <span class="foreign small">{problem}</span>}
    </li>
  );
}

function ratesOf([first, last]: readonly Sample[]): ReceivedRows | undefined {
  if (first === undefined || last === undefined) return undefined;
  const seconds = (last.atMs - first.atMs) / 1000;
  // A restarted server counts from 0.
  const rate = (kind: keyof ReceivedRows) => Math.max(0, last.rows[kind] - first.rows[kind]) / seconds;
  return { spans: rate("spans"), log_records: rate("log_records"), points: rate("points") };
}
