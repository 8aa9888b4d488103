/** Who is signed in, and what the key may do. The page itself never holds a key. */
import { batch, signal } from "@preact/signals";
import { onUnauthorized, request, requestJson, type ApiError } from "../api/request.ts";

/** docs/reference/permissions.md */
export type Permission =
  | "inference"
  | "models_read"
  | "telemetry_write"
  | "telemetry_read"
  | "content_read"
  | "spend_read"
  | "configuration_read"
  | "personal_keys"
  | "admin"
  | "owner"
  | "provision";

export interface Session {
  readonly organization: string;
  readonly organization_id: string;
  /** The project that the key is bound to. */
  readonly project: string | null;
  /** Who is signed in; null if the session was opened with keys. */
  readonly person: { readonly id: string; readonly name: string; readonly email: string } | null;
  /** The person's roles in the organization. */
  readonly role: string | null;
  /** Those of which the person is a member. */
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  readonly key_id: string;
  readonly key_name: string;
  /** The separate key for administration. */
  readonly operator_key_id: string | null;
  readonly operator_key_name: string | null;
  /** Whether the session may administer every organization. */
  readonly operator: boolean;
  /** The permissions of both keys. */
  readonly permissions: readonly Permission[];
  /** UNIX seconds. */
  readonly expires_at: number;
}

/** Undefined until the server has answered; null if nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** Why the session ended, for the sign-in page. */
export const endReason = signal<string | undefined>(undefined);

/** Asks the server who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await requestJson<Session>("authentication/session");
  } catch (error) {
    if ((error as ApiError).status !== 401) throw error;
    session.value = null;
  }
}

/**
 * Exchanges what the operation at `path` takes for a session: keys or a code, if it is absent.
 * @throws ApiError
 */
export async function signIn(
  credentials: Readonly<Record<string, string | object>>,
  path = "authentication/sessions",
): Promise<void> {
  const signedIn = await requestJson<Session>(path, { json: credentials });
  batch(() => {
    session.value = signedIn;
    endReason.value = undefined;
  });
}

/** @throws ApiError if the server did not end the session */
export async function signOut(): Promise<void> {
  try {
    await request("authentication/session", { method: "DELETE" });
  } catch (error) {
    if ((error as ApiError).status !== 401) throw error;
  }
  batch(() => {
    session.value = null;
    endReason.value = undefined;
  });
}

/** Continues in another organization of the person. @throws ApiError */
export async function changeOrganization(id: string): Promise<void> {
  await request("authentication/session", { method: "PATCH", json: { organization_id: id } });
  await loadSession();
}

/** Shows the sign-in page as soon as any request finds that the session has ended. */
export function watchSession(): void {
  onUnauthorized(({ message }) => {
    const wasSignedIn = session.value !== null && session.value !== undefined;
    // Without a cookie, for example after signing out in another tab, the server only misses a key. The code does not
    // tell: errors in the forms of Prometheus and Loki have none.
    if (message.startsWith("Your session has ended.")) endReason.value = message;
    else if (wasSignedIn) endReason.value = "You have been signed out.";
    if (wasSignedIn) session.value = null;
  });
}

export function may(permission: Permission): boolean {
  return session.value?.permissions.includes(permission) ?? false;
}
