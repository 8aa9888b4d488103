/** The name and the origin for which passkeys are created: those of the address under which people reach this server. */
import { isIP } from "node:net";
import { AppError } from "../../errors.ts";
import type { RequestOrigin } from "../../http/request-origin.ts";
import { publicAddress, type ServerAddress } from "../../tenancy/sign-in-link.ts";

export interface RelyingParty {
  /** The host name. */
  readonly id: string;
  readonly origin: string;
}

/** @throws AppError invalid_request if browsers create no passkeys for the address */
export function relyingPartyOf(requested: RequestOrigin, address: ServerAddress): RelyingParty {
  const { hostname, origin, port, protocol } = new URL(publicAddress(requested, address));
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  const isAddress = isIP(hostname.replaceAll(/^\[|\]$/g, "")) !== 0;
  if (isLocal || (protocol === "https:" && !isAddress)) return { id: hostname, origin };
  const local = `http://localhost${port === "" ? "" : `:${port}`}`;
  throw new AppError(
    "invalid_request",
    `Browsers allow passkeys only for a host name with HTTPS, and this server is at ${origin}. Set server.public_url, or open ${local} on the server's machine.`,
  );
}
