/** What serving a request needs of the server. */
import type { Logger } from "../logger.ts";
import type { MemoryBudget } from "../memory-budget.ts";
import type { KeyCheck } from "./authenticate.ts";
import type { Sessions } from "./authenticate-session.ts";
import type { BodyArrivals } from "./body-arrivals.ts";
import type { FailedKeys } from "./failed-keys.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { AdmitRequest } from "./request-admission.ts";
import type { RequestAudit } from "./request-audit.ts";
import type { RequestOriginOf } from "./request-origin.ts";

export interface ServeContext {
  readonly settings: {
    readonly cors_origins: readonly string[];
    readonly max_json_body_bytes: number;
    readonly max_json_values: number;
    readonly status_hold_ms: number;
    readonly heartbeat_interval_ms: number;
  };
  readonly checkKey: KeyCheck;
  /** Absent: cookies are ignored. */
  readonly sessions?: Sessions | undefined;
  readonly originOf: RequestOriginOf;
  readonly failedKeys: FailedKeys;
  /** The memory budget of routes without their own. */
  readonly memory: MemoryBudget;
  readonly openRequests: OpenRequests;
  readonly arrivals: BodyArrivals;
  readonly admitRequest?: AdmitRequest | undefined;
  /** Absent: nothing is recorded in an audit log. */
  readonly audit?: RequestAudit | undefined;
  readonly logger: Logger;
  isClosing(): boolean;
}
