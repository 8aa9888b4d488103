/** How a trace ended. */
import { formatCount } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";

/** The status of the root span; a trace can succeed although some of its spans failed. */
export function TraceStatus({ status, errors }: { readonly status: string; readonly errors: number }) {
  if (status === "error") {
    return (
      <span class="badge error">
        <Icon name="error" size={12} />
        Error
      </span>
    );
  }
  if (errors > 0) {
    return (
      <span class="badge warning" title={`${errors} failed ${errors === 1 ? "span" : "spans"}`}>
        <Icon name="warning" size={12} />
        {formatCount(errors)} failed
      </span>
    );
  }
  return <span class="muted">{status === "ok" ? "OK" : "–"}</span>;
}
