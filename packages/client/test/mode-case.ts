/** Cases that both clients must pass, written once: `await` and `for await` also accept the synchronous client's values and iterables. */
import { ApiStatusError, isSoundingError, type AsyncSounding } from "@sounding/client";

export interface CaseTools {
  readonly mode: "asynchronous" | "synchronous";
  /** A client of the test's server; the synchronous one is typed as the asynchronous one here, as explained above. */
  readonly client: AsyncSounding;
  /** Creates a client with other options. */
  readonly make: (options: Record<string, unknown>) => AsyncSounding;
  /** Notifies the server's side of the test that this point is reached. */
  readonly reached: (point: string) => void;
  /** What the test reported about its server, as plain data. */
  readonly facts: unknown;
}

/** Each case returns plain data, because it may run in another thread. */
export type ModeCases = Readonly<Record<string, (tools: CaseTools) => Promise<unknown>>>;

/** An error as plain data. */
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

/** Only an error's class and kind, because its message comes from the runtime. */
export async function kindOf(work: () => unknown): Promise<unknown> {
  const error = (await errorOf(work)) as { name?: string; kind?: string };
  return { name: error.name, kind: error.kind };
}
