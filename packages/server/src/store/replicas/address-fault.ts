/** Tells failures of one address, which another address may not have, from failures of a statement. */
import { StoreError } from "../store-error.ts";

/** ClickHouse's error numbers for which another replica may run the statement. https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const addressCodes: ReadonlySet<number> = new Set([
  203, // NO_FREE_CONNECTION
  210, // NETWORK_ERROR: between the servers
  225, // NO_ZOOKEEPER
  236, // ABORTED: the server is shutting down
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  279, // ALL_CONNECTION_TRIES_FAILED: between the servers
  319, // UNKNOWN_STATUS_OF_INSERT: the session with Keeper was lost
  439, // CANNOT_SCHEDULE_TASK
  999, // KEEPER_EXCEPTION
]);

/** The server has no tables (60) or no database (81): a new replica, or a new cluster. It works otherwise. */
const emptyCodes: ReadonlySet<number> = new Set([60, 81]);

/** Errors of connecting, before anything was sent. */
const connectErrors: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether the address, rather than the statement, is the reason: no complete response, a 5xx of a proxy, a replica that cannot work. */
export function isAddressFault(error: unknown): error is StoreError {
  if (!(error instanceof StoreError) || error.kind !== "transient") return false;
  if (error.code !== undefined) return addressCodes.has(error.code);
  return error.httpStatus === undefined || error.httpStatus >= 500;
}

/** Whether another address may run the statement. */
export function mayWorkElsewhere(error: unknown): error is StoreError {
  return (
    isAddressFault(error) || (error instanceof StoreError && error.code !== undefined && emptyCodes.has(error.code))
  );
}

/** Whether the statement cannot have begun, because there was no connection. */
export function wasNeverSent({ cause }: StoreError): boolean {
  return cause instanceof Error && "code" in cause && connectErrors.has(String(cause.code));
}
