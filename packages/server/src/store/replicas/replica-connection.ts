/**
 * One connection to several addresses of a cluster, of which it uses one until that one fails.
 * docs/adr/0040-workers-and-fleets.md
 */
import type { Connection } from "../connection.ts";
import type { StoreError } from "../store-error.ts";
import { mayWorkElsewhere, wasNeverSent } from "./address-fault.ts";
import type { Replica } from "./replica.ts";

type Work<Result> = (connection: Connection, signal: AbortSignal) => Promise<Result>;

interface Attempts {
  readonly signal: AbortSignal;
  /** Whether running the statement twice is the same as running it once. */
  readonly isRepeatable: boolean;
}

/** The replicas in the order in which a statement tries them. */
class Order {
  readonly #replicas: readonly Replica[];
  #current = 0;

  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
  }

  /** The one in use, then the others. Those that are down come last: one may answer again, or all may be down. */
  toTry(): readonly Replica[] {
    const inTurn = [...this.#replicas.slice(this.#current), ...this.#replicas.slice(0, this.#current)];
    return [...inTurn.filter(({ isUp }) => isUp), ...inTurn.filter(({ isUp }) => !isUp)];
  }

  /** The replica did what was asked. It stays in use until it fails, because another may not have the newest rows yet. */
  worked(replica: Replica): void {
    if (!this.#replicas[this.#current]!.isUp) this.#current = this.#replicas.indexOf(replica);
  }
}

/** Resolves once the first bytes are here: until then, another address can be asked. */
async function opened(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = bytes[Symbol.asyncIterator]();
  let next: IteratorResult<Uint8Array> = await iterator.next();
  return (async function* passOn() {
    try {
      for (; next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  })();
}

/** @param replicas at least one */
export function createReplicaConnection(replicas: readonly Replica[]): Connection {
  const order = new Order(replicas);
  const tryAll = async <Result>(
    { isRepeatable, signal }: Attempts,
    work: Work<Result>,
    candidates: readonly Replica[] = order.toTry(),
  ): Promise<Result> => {
    let failure: StoreError | undefined;
    for (const replica of candidates) {
      try {
        const result = await replica.run(signal, work);
        order.worked(replica);
        return result;
      } catch (error) {
        if (signal.aborted || !mayWorkElsewhere(error)) throw error;
        // What a server answered says more than that another did not answer.
        if (failure?.code === undefined) failure = error;
        if (!isRepeatable && !wasNeverSent(error)) break;
      }
    }
    throw failure!;
  };
  const connectionTo = (candidates: () => readonly Replica[]): Connection => ({
    ping: (signal) =>
      tryAll({ signal, isRepeatable: true }, (connection, limited) => connection.ping(limited), candidates()),
    command: (text, signal) =>
      tryAll({ signal, isRepeatable: true }, (connection, limited) => connection.command(text, limited), candidates()),
    insert: (request) =>
      // A repeated insert has the same token, and replicas share the tokens.
      tryAll(
        { signal: request.signal, isRepeatable: true },
        (connection, signal) => connection.insert({ ...request, signal }),
        candidates(),
      ),
    insertFile: (request) =>
      tryAll(
        { signal: request.signal, isRepeatable: true },
        (connection, signal) => connection.insertFile({ ...request, signal }),
        candidates(),
      ),
    read: (request) =>
      tryAll(
        { signal: request.signal, isRepeatable: request.runsOnce !== true },
        async (connection, signal) => opened(await connection.read({ ...request, signal })),
        candidates(),
      ),
    pinned() {
      const [replica] = order.toTry();
      return connectionTo(() => [replica!]);
    },
    addresses: () => replicas.map(({ isUp, url }) => ({ url, isUp })),
    async close() {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  });
  return connectionTo(() => order.toTry());
}
