/** Checks that the control database accepts writes; a full disk or a standby still serves reads. */
import { toAppError } from "../errors.ts";
import type { ControlDatabase } from "./control-database.ts";
import { nowSeconds } from "./row-values.ts";

/** `/readyz` needs no key, so frequent requests must not cause frequent writes. */
const freshMs = 10_000;

/** Returns a function that reports the problem with writes, if any; results are cached for some seconds. */
export function createWriteProbe(control: ControlDatabase, now = Date.now): () => Promise<string | undefined> {
  let latest: { readonly atMs: number; readonly problem: Promise<string | undefined> } | undefined;
  return () => {
    if (latest === undefined || now() - latest.atMs >= freshMs) latest = { atMs: now(), problem: probe(control) };
    return latest.problem;
  };
}

async function probe(control: ControlDatabase): Promise<string | undefined> {
  const written_at = nowSeconds();
  try {
    await control.write((transaction) =>
      transaction
        .insertInto("write_probe")
        .values({ id: 1, written_at })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ written_at }))
        .execute(),
    );
    return undefined;
  } catch (error) {
    return toAppError(error).message;
  }
}
