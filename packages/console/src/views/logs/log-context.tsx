/** A dialog with the lines that the same service wrote before and after a line. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useQuery } from "../../api/use-query.ts";
import { CopyButton } from "../../design/copy-button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { ErrorState, Loading } from "../../design/states.tsx";
import { parameters } from "../../state/address.ts";
import type { LogEntry } from "./log-entry.ts";
import { readPage } from "./log-reader.ts";
import { LogRow } from "./log-row.tsx";

interface Surroundings {
  readonly line: LogEntry;
  /** Newest first, like every list of lines. */
  readonly entries: readonly LogEntry[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

const firstLines = 10;
const moreLines = 40;
/** How far away lines are looked for. */
const reachMs = 86_400_000;

/** @param id the ID of the line; its time is the address's parameter `at` */
export function LogContext({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const counts = useSignal({ older: firstLines, newer: firstLines });
  const { data, error, reload } = useQuery(
    (signal) => readSurroundings(id, parameters.peek().get("at") ?? "", counts.value, signal),
    [id],
  );
  const expanded = useSignal<ReadonlySet<string>>(new Set());
  const found = data.value;
  const service = found?.line.labels["service_name"];
  return (
    <Dialog
      title={service === undefined ? "Around a line" : `Around a line of ${service.slice(0, 80)}`}
      onClose={onClose}
      wide
    >
      {error.value !== undefined ? (
        <ErrorState error={error.value} onRetry={reload} />
      ) : found === undefined ? (
        <Loading what="the lines around it" />
      ) : (
        <div class="logs-context">
          <MoreLines
            enabled={found.hasNewer}
            what="newer"
            onMore={() => (counts.value = { ...counts.value, newer: counts.value.newer + moreLines })}
          />
          <div class="logs-context-lines" role="list" aria-label="Lines around">
            {found.entries.map((entry) => (
              <ContextRow
                key={entry.id}
                entry={entry}
                isLine={entry.id === id}
                expanded={expanded.value.has(entry.id)}
                onToggle={() => {
                  const next = new Set(expanded.value);
                  if (!next.delete(entry.id)) next.add(entry.id);
                  expanded.value = next;
                }}
              />
            ))}
          </div>
          <MoreLines
            enabled={found.hasOlder}
            what="older"
            onMore={() => (counts.value = { ...counts.value, older: counts.value.older + moreLines })}
          />
          <div class="row">
            <CopyButton text={() => location.href} label="Copy link" />
          </div>
        </div>
      )}
    </Dialog>
  );
}

function ContextRow({
  entry,
  isLine,
  expanded,
  onToggle,
}: {
  readonly entry: LogEntry;
  readonly isLine: boolean;
  readonly expanded: boolean;
  readonly onToggle: () => void;
}) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isLine) element.current?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <div ref={element} role="presentation">
      <LogRow entry={entry} expanded={expanded} current={isLine} wrap onToggle={onToggle} />
    </div>
  );
}

function MoreLines({
  enabled,
  what,
  onMore,
}: {
  readonly enabled: boolean;
  readonly what: "newer" | "older";
  readonly onMore: () => void;
}) {
  return (
    <button type="button" class="button quiet" disabled={!enabled} onClick={onMore}>
      {enabled ? `More ${what} lines` : `No ${what} lines`}
    </button>
  );
}

async function readSurroundings(
  id: string,
  at: string,
  { older, newer }: { readonly older: number; readonly newer: number },
  signal: AbortSignal,
): Promise<Surroundings> {
  const ms = Math.floor(Number(at.slice(0, -6)));
  const atMs = Number.isFinite(ms) ? ms : 0;
  const same = await readPage({ filter: {}, startMs: atMs, endMs: atMs + 1, cursor: "", limit: 5_000, signal });
  const line = same.entries.find((entry) => entry.id === id);
  if (line === undefined) throw new Error("This line does not exist, or no longer: its retention may have ended.");
  const filter = { service_name: line.labels["service_name"], project_name: line.labels["project_name"] };
  const [before, after] = await Promise.all([
    readPage({ filter, startMs: atMs - reachMs, endMs: atMs + 1, cursor: id, limit: older, signal }),
    readPage({
      filter,
      startMs: atMs,
      endMs: atMs + reachMs,
      direction: "forward",
      cursor: id,
      limit: newer,
      signal,
    }),
  ]);
  return {
    line,
    entries: [...after.entries, line, ...before.entries],
    hasOlder: before.nextCursor !== undefined,
    hasNewer: after.nextCursor !== undefined,
  };
}
