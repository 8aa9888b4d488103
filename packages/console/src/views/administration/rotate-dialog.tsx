/** Replaces a key by one with a new secret, at once or after a while. */
import { useSignal } from "@preact/signals";
import type { Key, KeyWithSecret } from "../../api/key-types.ts";
import { requestJson } from "../../api/request.ts";
import { Field, FormDialog } from "./form-dialog.tsx";

const graces = [
  { seconds: 0, title: "Revoke it now" },
  { seconds: 3_600, title: "Keep it for an hour" },
  { seconds: 86_400, title: "Keep it for a day" },
  { seconds: 604_800, title: "Keep it for a week" },
];

export function RotateDialog({
  item,
  onClose,
  onDone,
}: {
  readonly item: Key;
  readonly onClose: () => void;
  readonly onDone: (key: KeyWithSecret) => void;
}) {
  const grace = useSignal("3600");
  const rotate = async () => {
    const json = { grace_seconds: Number(grace.value) };
    onDone(await requestJson<KeyWithSecret>(`admin/v1/keys/${item.id}/rotate`, { json }));
  };
  return (
    <FormDialog title="Rotate the key" action="Rotate" onClose={onClose} onSubmit={rotate}>
      <p>
        This creates a key with the name, the permissions and the limits of <strong class="foreign">{item.name}</strong>{" "}
        and a new secret.
      </p>
      <Field name="grace_seconds" label="The old key" hint="Keep it while you replace it where it is used.">
        {(props) => (
          <select
            {...props}
            class="select"
            value={grace.value}
            onChange={(event) => (grace.value = event.currentTarget.value)}
          >
            {graces.map(({ seconds, title }) => (
              <option key={seconds} value={seconds}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}
