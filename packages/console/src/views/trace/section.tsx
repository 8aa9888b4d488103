/** A part of a span's details, which can be closed. */
import type { ComponentChildren } from "preact";

export function Section({
  title,
  count,
  closed = false,
  children,
}: {
  readonly title: string;
  readonly count?: number;
  /** Whether it is closed at first. */
  readonly closed?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <details class="trace-section" open={!closed}>
      <summary>
        <span class="foreign">{title}</span>
        {count !== undefined && <span class="muted"> {count}</span>}
      </summary>
      {children}
    </details>
  );
}
