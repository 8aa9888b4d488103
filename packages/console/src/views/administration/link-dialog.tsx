/** Shows a link with which a person chooses a password. */
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { CopyButton } from "../../design/copy-button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { formatTime } from "../../design/format.ts";
import { ErrorState, Loading } from "../../design/states.tsx";

interface Link {
  readonly email: string;
  readonly url: string;
  readonly expires_at: number;
}

/** Creates the link when it is opened. */
export function LinkDialog({ personId, onClose }: { readonly personId: string; readonly onClose: () => void }) {
  const { data, error } = useQuery((signal) =>
    requestJson<Link>(`admin/v1/people/${personId}/account_link`, { method: "POST", signal }),
  );
  const link = data.value;
  return (
    <Dialog title="Link to choose a password" onClose={onClose}>
      {error.value !== undefined && <ErrorState error={error.value} />}
      {error.value === undefined && link === undefined && <Loading what="the link" />}
      {link !== undefined && (
        <>
          <p>
            Give this link to <strong class="foreign">{link.email}</strong>. It works once, until{" "}
            {formatTime(link.expires_at * 1000)}, and replaces the password, one-time codes and sessions when it is
            used. Anyone who has it becomes the person.
          </p>
          <div class="administration-secret">
            <code>{link.url}</code>
            <CopyButton text={link.url} label="Copy the link" iconOnly />
          </div>
        </>
      )}
    </Dialog>
  );
}
