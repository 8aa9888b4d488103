/** What a view shows instead of its content: nothing yet, nothing at all, a failure, or too much. */
import type { ComponentChildren } from "preact";
import { ApiError } from "../api/request.ts";
import { Icon, type IconName } from "./icons.tsx";

/** Appears after a moment, so that quick answers do not flicker. */
export function Loading({ what, onCancel }: { readonly what: string; readonly onCancel?: (() => void) | undefined }) {
  return (
    <div class="state loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <p>Loading {what}…</p>
      {onCancel && (
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      )}
    </div>
  );
}

/** Nothing matches, or nothing has arrived yet: says what to do. */
export function EmptyState({
  title,
  icon = "search",
  children,
}: {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="state">
      <Icon name={icon} size={24} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A failed request: the server's message, which says what to do, and a way to try again. */
export function ErrorState({ error, onRetry }: { readonly error: Error; readonly onRetry?: (() => void) | undefined }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div class="state failure" role="alert">
      <Icon name="error" size={24} />
      <h2>{titleOf(error)}</h2>
      <p class="foreign">{error.message}</p>
      {requestId !== undefined && (
        <p class="small muted">
          Request ID: <code>{requestId}</code>
        </p>
      )}
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A short message inside a view: part of it failed, or is incomplete. */
export function Notice({
  kind = "info",
  children,
}: {
  readonly kind?: "info" | "warning" | "error";
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`notice ${kind}`} role={kind === "error" ? "alert" : "note"}>
      <Icon name={kind} />
      <div>{children}</div>
    </div>
  );
}

function titleOf(error: Error): string {
  const { status, code } = error instanceof ApiError ? error : { status: -1, code: undefined };
  if (status === 0) return "The server cannot be reached";
  if (status === 403) return "Your key may not do this";
  if (status === 404) return "Not found";
  if (status === 429) return "Too many requests";
  if (status === 503) return code === "overloaded" ? "The server is busy" : "This is not available right now";
  return "This did not work";
}
