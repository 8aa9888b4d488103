/** Loads the recorded call that the address names, and says what of it could not be loaded. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Loading, Notice } from "../../../design/states.tsx";
import { ContentHint } from "../../../genai/content-hint.tsx";
import { parameters as address, setParameters } from "../../../state/address.ts";
import type { ChatStore } from "./chat-store.ts";
import { loadRecordedCall, type RecordedCall } from "./recorded-call.ts";

type Progress = "loading" | Error | Omit<RecordedCall, "state">;

/** @returns undefined unless the address names a call */
export function useRecordedCall(chat: ChatStore): Signal<Progress | undefined> {
  const progress = useSignal<Progress | undefined>(undefined);
  useEffect(() => {
    const traceId = address.peek().get("from_trace");
    const spanId = address.peek().get("from_span") ?? undefined;
    if (traceId === null) return;
    const controller = new AbortController();
    progress.value = "loading";
    loadRecordedCall({ traceId, spanId }, controller.signal).then(
      ({ state, ...rest }) => {
        chat.load(state);
        progress.value = rest;
        // From now on, the conversation is the user's own.
        setParameters({ from_trace: undefined, from_span: undefined }, { replace: true });
      },
      (error: Error) => {
        if (!controller.signal.aborted) progress.value = error;
      },
    );
    return () => controller.abort();
  }, [chat]);
  return progress;
}

export function RecordedCallNotice({ progress }: { readonly progress: Signal<Progress | undefined> }) {
  const current = progress.value;
  if (current === undefined) return null;
  if (current === "loading") return <Loading what="the recorded call" />;
  if (current instanceof Error) {
    return (
      <Notice kind="error">
        <span class="foreign">The recorded call could not be loaded. {current.message}</span>
      </Notice>
    );
  }
  if (!current.hasContent) return <ContentHint />;
  if (current.omittedMedia === 0) return null;
  return (
    <Notice kind="warning">
      {current.omittedMedia === 1 ? "An image or file" : `${current.omittedMedia} images or files`} of the call{" "}
      {current.omittedMedia === 1 ? "was" : "were"} not recorded. Add them again where they matter.
    </Notice>
  );
}
