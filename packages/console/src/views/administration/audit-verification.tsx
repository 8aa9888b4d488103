/** The button that verifies the audit log, and what was found. */
import { useSignal } from "@preact/signals";
import type { AuditVerification } from "../../api/audit-types.ts";
import { requestJson } from "../../api/request.ts";
import { Notice } from "../../design/states.tsx";

export function AuditVerificationButton() {
  const result = useSignal<AuditVerification | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const isRunning = useSignal(false);
  const verify = async (): Promise<void> => {
    isRunning.value = true;
    failure.value = undefined;
    try {
      result.value = await requestJson<AuditVerification>("admin/v1/audit/verification");
    } catch (error) {
      failure.value = error instanceof Error ? error.message : String(error);
    }
    isRunning.value = false;
  };
  return (
    <>
      <button type="button" class="button spread" disabled={isRunning.value} onClick={() => void verify()}>
        {isRunning.value ? "Verifying…" : "Verify"}
      </button>
      {failure.value !== undefined && (
        <Notice kind="error">
          The log cannot be verified: <span class="foreign">{failure.value}</span>
        </Notice>
      )}
      {failure.value === undefined && result.value !== undefined && <Result result={result.value} />}
    </>
  );
}

function Result({ result }: { readonly result: AuditVerification }) {
  if (result.valid)
    return (
      <Notice>
        The audit log is valid: {result.entries} entries. Anchor: {result.last_sequence}:{result.last_hash}
      </Notice>
    );
  return (
    <Notice kind="error">The audit log is not valid. {result.problems.map(({ message }) => message).join(" ")}</Notice>
  );
}
