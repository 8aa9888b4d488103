/** Everything about one log entry: its whole message, stack traces, attributes and labels, with buttons to filter by them. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { ClippedText } from "../../design/clipped-text.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { formatTime } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { href } from "../../state/address.ts";
import { labelFilter, type ValueFilter } from "./label-filter.ts";
import { entryJson, type LogEntry } from "./log-entry.ts";

export interface LogDetailsProps {
  readonly entry: LogEntry;
  /** Filters by a value; absent: values have no buttons. */
  readonly onFilter?: ((filter: ValueFilter, exclude: boolean) => void) | undefined;
  /** Shows the lines around this one. */
  readonly onContext?: (() => void) | undefined;
  /** Whether to link the entry's trace. */
  readonly traceLink?: boolean;
}

/** Texts of several lines, which read badly in a table. */
const blockNames = new Set(["exception.stacktrace"]);

/** Longer texts are not parsed as JSON. */
const maximumJson = 262_144;

export function LogDetails({ entry, onFilter, onContext, traceLink = true }: LogDetailsProps) {
  const { attributes, labels, line } = entry;
  const { trace_id: traceId, span_id: spanId } = labels;
  const blocks = Object.entries(attributes).filter(([name, value]) => blockNames.has(name) || value.includes("\n"));
  const plain = Object.entries(attributes).filter(([name]) => !blocks.some(([block]) => block === name));
  return (
    <div class="logs-details">
      <div class="row logs-details-actions">
        <span class="muted small">{preciseTime(entry)}</span>
        <span class="spread" />
        {traceLink && traceId !== undefined && (
          <a class="button quiet" href={href(`traces/${traceId}`, { span: spanId })}>
            <Icon name="traces" />
            Open trace
          </a>
        )}
        {onContext && (
          <button type="button" class="button quiet" onClick={onContext}>
            <Icon name="logs" />
            Lines around
          </button>
        )}
        <CopyButton text={line} label="Copy line" />
        <CopyButton text={() => JSON.stringify(entryJson(entry), null, 2)} label="Copy as JSON" />
      </div>
      <Message line={line} />
      {blocks.map(([name, value]) => (
        <Block key={name} name={name}>
          <ClippedText text={value} limit={8_000} />
        </Block>
      ))}
      {plain.length > 0 && (
        <Values
          title="Attributes"
          rows={plain.map(([name, value]) => ({ name, value, filter: { kind: "attribute", name, value } as const }))}
          onFilter={onFilter}
        />
      )}
      <Values
        title="Labels"
        rows={Object.entries(labels).map(([name, value]) => ({ name, value, filter: labelFilter(name, value) }))}
        onFilter={onFilter}
      />
    </div>
  );
}

/** To the nanosecond. */
function preciseTime({ ms, unixNano }: LogEntry): string {
  return `${formatTime(ms)}.${unixNano.slice(-9)}`;
}

function Block({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <section class="logs-block">
      <h2 class="logs-heading">{name}</h2>
      <pre tabIndex={0}>{children}</pre>
    </section>
  );
}

function Message({ line }: { readonly line: string }) {
  const asSent = useSignal(false);
  const pretty = prettyJson(line);
  if (pretty === undefined) {
    return (
      <Block name="Message">
        <ClippedText text={line} limit={8_000} />
      </Block>
    );
  }
  return (
    <section class="logs-block">
      <div class="row">
        <h2 class="logs-heading">Message</h2>
        <button
          type="button"
          class="button quiet small"
          aria-pressed={asSent.value}
          onClick={() => (asSent.value = !asSent.value)}
        >
          As sent
        </button>
      </div>
      <pre tabIndex={0}>
        <ClippedText text={asSent.value ? line : pretty} limit={8_000} />
      </pre>
    </section>
  );
}

/** A JSON object or list with line breaks; undefined for other text. */
export function prettyJson(line: string): string | undefined {
  if (!/^\s*[[{]/.test(line) || line.length > maximumJson) return undefined;
  try {
    return JSON.stringify(JSON.parse(line), null, 2);
  } catch {
    return undefined;
  }
}

interface ValueRow {
  readonly name: string;
  readonly value: string;
  /** Undefined: nothing can be filtered by it. */
  readonly filter: ValueFilter | undefined;
}

function Values({
  title,
  rows,
  onFilter,
}: {
  readonly title: string;
  readonly rows: readonly ValueRow[];
  readonly onFilter: LogDetailsProps["onFilter"];
}) {
  return (
    <section>
      <h2 class="logs-heading">{title}</h2>
      <dl class="logs-values">
        {rows.map(({ name, value, filter }) => (
          <div key={name}>
            <dt>
              <span class="foreign">{name}</span>
            </dt>
            <dd>
              <ClippedText text={value} limit={300} />
            </dd>
            <dd class="logs-values-actions">
              {onFilter !== undefined && filter !== undefined && (
                <>
                  <FilterButton
                    icon="plus"
                    name={`Only lines with this ${name}`}
                    onClick={() => onFilter(filter, false)}
                  />
                  {filter.kind !== "trace" && (
                    <FilterButton
                      icon="minus"
                      name={`No lines with this ${name}`}
                      onClick={() => onFilter(filter, true)}
                    />
                  )}
                </>
              )}
              <CopyButton text={value} label={`Copy ${name}`} iconOnly />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function FilterButton({
  icon,
  name,
  onClick,
}: {
  readonly icon: "plus" | "minus";
  readonly name: string;
  readonly onClick: () => void;
}) {
  return (
    <button type="button" class="button quiet icon-only" aria-label={name} title={name} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
