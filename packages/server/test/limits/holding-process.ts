/** Holds slots of a shared limit in a process of its own until it is killed: URL of Valkey, lease of the slots, number of slots. */
import { ValkeyLedger } from "../../src/limits/shared/valkey-ledger.ts";
import { limitedServer, scope } from "./limited-servers.ts";

const [url, slotLeaseMs, slots] = process.argv.slice(2);
const ledger = new ValkeyLedger({ url: url!, timeoutMs: 30_000 });
const key = { concurrent_requests: 4 };
const { limiter } = await limitedServer(ledger, { key, slotLeaseMs: Number(slotLeaseMs) });
for (let slot = 0; slot < Number(slots); slot++) await limiter.admit(scope(), { estimatedTokens: 1 });
process.stdout.write("held\n");
setInterval(() => {}, 1_000);
