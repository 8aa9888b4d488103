/** Asks a server whom a key belongs to. */
import { sendRequest } from "../remote-request.ts";

/** The response of `POST /authentication/validate`. */
export interface KeyIdentity {
  readonly organization_id: string;
  readonly organization: string;
  readonly project: string | null;
  readonly key_id: string;
  readonly key_name: string;
  readonly operator: boolean;
  /** Absent from servers that are older. */
  readonly role?: string | null;
  readonly permissions: readonly string[];
}

/** @throws an error with exit code denied if the server does not accept the key */
export async function identifyKey(url: string, key: string, signal: AbortSignal): Promise<KeyIdentity> {
  const server = {
    url,
    key,
    signal,
    ifUnreachable: "Is the server running? Start one with `sounding serve`, or set --url.",
    ifDenied: "Run `sounding login` with a key of this server.",
  };
  return (await sendRequest(server, "POST", "/authentication/validate")) as KeyIdentity;
}
