/** Counts what a deletion would take, and says so in a sentence. */
import type { Deletion } from "../../api/deletion-types.ts";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { rowsText } from "./deletion-text.ts";

/** @param selection as in the body of `POST /admin/v1/deletions` */
export function DeletionCount({ selection }: { readonly selection: Readonly<Record<string, string>> }) {
  const { data, error } = useQuery(
    (signal) => {
      const json = { ...selection, dry_run: true };
      return requestJson<Deletion>("admin/v1/deletions", { method: "POST", json, signal });
    },
    [JSON.stringify(selection)],
  );
  if (error.value !== undefined)
    return (
      <span>
        The telemetry cannot be counted: <span class="foreign">{error.value.message}</span>
      </span>
    );
  if (data.value === undefined) return <span>Its telemetry is being counted…</span>;
  return <span>{rowsText(data.value.rows)} are deleted.</span>;
}
