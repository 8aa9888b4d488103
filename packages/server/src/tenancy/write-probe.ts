/** Whether the control database can be written: a full disk or a standby still answers reads. */
import { toAppError } from "../errors.ts";
import type { ControlDatabase } from "./control-database.ts";
import { nowSeconds } from "./row-values.ts";

/** /readyz needs no key, so asking often must not write often. */
const freshMs = 10_000;

/** Returns a function that tells what is wrong with writing, if anything; the answer may be some seconds old. */
export function createWriteProbe(control: ControlDatabase, now = Date.now): () => Promise<string | undefined> {
  let asked: { readonly atMs: number; readonly answer: Promise<string | undefined> } | undefined;
  return () => {
    if (asked === undefined || now() - asked.atMs >= freshMs) asked = { atMs: now(), answer: probe(control) };
    return asked.answer;
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
