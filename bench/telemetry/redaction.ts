/** What redaction costs a record: the same requests are decoded with and without it, in turn, and nothing is stored. */
import { sensitiveKinds } from "../../packages/server/src/sensitive-data/kinds.ts";
import { createRedaction } from "../../packages/server/src/telemetry/redaction/redaction.ts";
import { ingestFixture, nowMs } from "../../packages/server/test/otlp/ingest-fixture.ts";
import { quantile } from "../quantile.ts";
import { createRequests, type Signal } from "./requests.ts";

const recordCount = 1000;

export interface RedactionCost {
  /** CPU time of decoding a record, without and with the search for all kinds of data. */
  readonly plainMicros: number;
  readonly searchedMicros: number;
}

/** The lowest tenth of the rounds: others may use the machine. */
export async function measureRedaction(signal: Signal, rounds: number): Promise<RedactionCost> {
  const { redactorOf } = createRedaction({ all: { kinds: [...sensitiveKinds], patterns: {} } }, () => {
    throw new Error("the requests of the benchmark have nothing to redact");
  });
  const fixtures = [ingestFixture(), ingestFixture({ redactorOf })];
  const source = createRequests(signal, recordCount, () => nowMs);
  const micros = fixtures.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    const bytes = Buffer.from(source.next());
    for (const [index, { send, store }] of fixtures.entries()) {
      const before = process.threadCpuUsage();
      await send(signal, bytes);
      const { user, system } = process.threadCpuUsage(before);
      micros[index]!.push((user + system) / recordCount);
      store.batches.length = 0;
    }
  }
  await Promise.all(fixtures.map((each) => each.close()));
  // The first rounds include compilation.
  const [plainMicros, searchedMicros] = micros.map((each) => quantile(each.slice(rounds / 4), 0.1));
  return { plainMicros: plainMicros!, searchedMicros: searchedMicros! };
}
