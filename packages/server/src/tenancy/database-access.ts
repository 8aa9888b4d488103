/** How functions get at the control database: outside of a transaction, or in one. */
import type { Kysely, Transaction } from "kysely";
import type { ControlTables } from "./tables.ts";

export type Reader = Kysely<ControlTables>;
export type Writer = Transaction<ControlTables>;
