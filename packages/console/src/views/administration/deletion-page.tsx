/** The receipt of a deletion, read again until the data is gone from the disk. */
import type { Deletion } from "../../api/deletion-types.ts";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { formatTime } from "../../design/format.ts";
import { Notice } from "../../design/states.tsx";
import { useEvery } from "../../state/use-every.ts";
import { useNames } from "./admin-lists.ts";
import { rowsText, stateText, whatOf } from "./deletion-text.ts";
import { Fact, Facts, IdFact, ObjectPage } from "./object-page.tsx";

const lookEveryMs = 2_000;

export function DeletionPage({ id }: { readonly id: string }) {
  const query = useQuery(
    async (signal) => {
      const deletion = await requestJson<Deletion>(`admin/v1/deletions/${id}`, { signal });
      return { ...deletion, id, name: `Deletion of ${whatOf(deletion)}` };
    },
    [id],
  );
  const names = useNames().data.value;
  useEvery(lookEveryMs, () => {
    if (query.data.value?.status !== "done") query.reload();
  });
  return (
    <ObjectPage query={query} kind="deletions" actions={() => null}>
      {(deletion) => (
        <>
          {deletion.error !== null && (
            <Notice kind="error">
              The last attempt failed: <span class="foreign">{deletion.error}</span> The server tries again.
            </Notice>
          )}
          {deletion.status === "done" && (
            <Notice>The data is gone from the disk. Keep this page as the receipt.</Notice>
          )}
          <Facts>
            <IdFact id={id} />
            <Fact name="Organization">
              <span class="foreign">
                {names?.organizations.get(deletion.organization_id)?.name ?? deletion.organization_id}
              </span>
            </Fact>
            <Fact name="Requested">{formatTime(deletion.created_at * 1000)}</Fact>
            <Fact name="By the key">
              <code>{deletion.requested_by}</code>
            </Fact>
            {deletion.project_name !== null && (
              <Fact name="Project">
                <span class="foreign">{deletion.project_name}</span>
              </Fact>
            )}
            <HashFact name="Conversation" hash={deletion.conversation_sha256} />
            <HashFact name="End user" hash={deletion.end_user_sha256} />
            {deletion.start !== null && <Fact name="From">{timeText(deletion.start)}</Fact>}
            {deletion.end !== null && <Fact name="Until">{timeText(deletion.end)}</Fact>}
            <Fact name="Deleted">{rowsText(deletion.rows)}</Fact>
            <Fact name="Gone from queries">{stateText(deletion, deletion.hidden_at)}</Fact>
            <Fact name="Gone from the disk">{stateText(deletion, deletion.erased_at)}</Fact>
          </Facts>
        </>
      )}
    </ObjectPage>
  );
}

/** The ID itself is not stored. */
function HashFact({ name, hash }: { readonly name: string; readonly hash: string | null }) {
  if (hash === null) return null;
  return (
    <Fact name={`${name}, SHA-256 of the ID`}>
      <code class="foreign">{hash}</code>
    </Fact>
  );
}

function timeText(nanoseconds: string): string {
  return formatTime(Number(BigInt(nanoseconds) / 1_000_000n));
}
