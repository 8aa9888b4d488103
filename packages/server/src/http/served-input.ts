/** What a route gets of one request. What few routes read is created when it is read, so an input cannot be spread. */
import type { AbortSource } from "../cancellation.ts";
import type { LogFields } from "../logger.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import type { CheckedSession } from "../session.ts";
import type { Scope } from "../tenant.ts";
import type { ReadBody } from "./body.ts";
import type { CutTexts } from "./json-outline.ts";
import type { SpooledForm } from "./form.ts";
import { queryOf } from "./query-body.ts";
import type { RequestContext } from "./request-context.ts";
import type { RequestOrigin, RequestOriginOf } from "./request-origin.ts";
import type { RouteInput } from "./route.ts";
import { pathOf, type PathParameters } from "./router.ts";

export interface ServedParts {
  readonly scope: Scope;
  readonly read: ReadBody;
  readonly form: SpooledForm | undefined;
  readonly path: PathParameters;
  readonly memory: MemoryCharge;
  readonly originOf: RequestOriginOf;
}

export class ServedInput implements RouteInput<never> {
  /** `route` tied the function to the type of its operation's body; here the value is only validated. */
  readonly body: never;
  readonly bytes: Buffer;
  readonly texts: CutTexts | undefined;
  readonly form: SpooledForm | undefined;
  readonly scope: Scope;
  readonly path: PathParameters;
  readonly memory: MemoryCharge;
  readonly requestId: string;
  readonly clientAddress: string | undefined;
  readonly headers: RouteInput<never>["headers"];
  readonly cancellation: AbortSource;
  readonly #context: RequestContext;
  readonly #originOf: RequestOriginOf;

  constructor(context: RequestContext, { scope, read, form, path, memory, originOf }: ServedParts) {
    this.body = read.value as never;
    this.bytes = read.bytes;
    this.texts = read.texts;
    this.form = form;
    this.scope = scope;
    this.path = path;
    this.memory = memory;
    this.requestId = context.requestId;
    this.clientAddress = context.clientAddress;
    this.headers = context.request.headers;
    this.cancellation = context.cancellation;
    this.#context = context;
    this.#originOf = originOf;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get session(): CheckedSession | undefined {
    return this.#context.session;
  }

  get pathname(): string {
    return pathOf(this.#context.request.url ?? "");
  }

  get query(): URLSearchParams {
    return queryOf(this.#context.request);
  }

  // Routes take these two out of their input, so they are functions that need no `this`.
  get origin(): () => RequestOrigin {
    return () => this.#originOf(this.#context.request);
  }

  get note(): (fields: LogFields) => void {
    return (fields) => this.#context.note(fields);
  }
}
