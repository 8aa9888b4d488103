/** The top of a view: its title, its actions and, if it depends on time, the time range. */
import type { ComponentChildren } from "preact";
import { TimeRangePicker } from "./time-range-picker.tsx";

export function ViewHeader({
  title,
  children,
  time = false,
}: {
  readonly title: ComponentChildren;
  /** Controls next to the title. */
  readonly children?: ComponentChildren;
  /** Whether the view has a time range. */
  readonly time?: boolean;
}) {
  return (
    <header class="view-header">
      <h1>{title}</h1>
      <div class="view-actions">
        {children}
        {time && <TimeRangePicker />}
      </div>
    </header>
  );
}
