/** Who is signed in, and what the key may do. The page itself never holds a key. */
import { signal } from "@preact/signals";
import { onUnauthorized, requestJson, type ApiError } from "../api/request.ts";

export type Permission = "inference" | "telemetry_write" | "telemetry_read" | "admin";

export interface Session {
  readonly organization: string;
  readonly organization_id: string;
  /** The project that the key is bound to. */
  readonly project: string | null;
  readonly key_id: string;
  readonly key_name: string;
  /** Whether the key may administer every organization. */
  readonly operator: boolean;
  readonly permissions: readonly Permission[];
}

/** Undefined until the server has answered; null if nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** Why the session ended, for the sign-in page. */
export const endReason = signal<ApiError | undefined>(undefined);

/** Asks the server who is signed in. */
export async function loadSession(): Promise<void> {
  onUnauthorized((error) => {
    if (session.value !== null && session.value !== undefined) endReason.value = error;
    session.value = null;
  });
  try {
    session.value = await requestJson<Session>("authentication/validate", { method: "POST" });
  } catch (error) {
    if (session.value === undefined) session.value = null;
    if ((error as ApiError).status !== 401) throw error;
  }
}

export function may(permission: Permission): boolean {
  return session.value?.permissions.includes(permission) ?? false;
}
