/** Cases that both clients must pass, written once: `await` and `for await` take the values and the iterables of the synchronous client as well. */
import { ApiStatusError, isSoundingError, type AsyncSounding } from "@sounding/client";

export interface CaseTools {
  readonly mode: "asynchronous" | "synchronous";
  /** A client of the test's server; the synchronous one passes for the asynchronous one here, as said above. */
  readonly client: AsyncSounding;
  /** Makes a client with other options. */
  readonly make: (options: Record<string, unknown>) => AsyncSounding;
  /** Tells the server's side of the test that this point is reached. */
  readonly reached: (point: string) => void;
  /** What the test told of its server, as plain data. */
  readonly facts: unknown;
}

/** Each case gives plain data, because it may run in another thread. */
export type ModeCases = Readonly<Record<string, (tools: CaseTools) => Promise<unknown>>>;

/** What an error is, as plain data. */
export async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return "no error";
  } catch (error) {
    if (!isSoundingError(error)) return String(error);
    const { name, kind, message, code } = error;
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    if (!(error instanceof ApiStatusError)) return { name, kind, message, code, cause };
    const { status, type, param, requestId, body } = error;
    return { name, kind, message, code, status, type, param, requestId, body, header: error.headers.get("x-extra") };
  }
}

/** Only class and kind of an error, where its message is the runtime's. */
export async function kindOf(work: () => unknown): Promise<unknown> {
  const error = (await errorOf(work)) as { name?: string; kind?: string };
  return { name: error.name, kind: error.kind };
}
