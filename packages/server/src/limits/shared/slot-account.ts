/** Slots of concurrent calls, by the process that holds them. A process that is not heard of loses its slots after a while. */
import { spareShare } from "./bucket-account.ts";
import type { LedgerRequest, SlotAnswer, SlotRequest } from "./limit-ledger.ts";

export interface HeldSlots {
  readonly slots: number;
  readonly expiresMs: number;
  /** Of the request that set this. */
  readonly sequence: number;
}

/** By holder. */
export type SlotAccount = Readonly<Record<string, HeldSlots>>;

type Exchange = Pick<LedgerRequest, "holder" | "sequence" | "slotLeaseMs"> & { readonly nowMs: number };

/** Answers one request. A request that a newer one of its holder has overtaken changes nothing. */
export function settleSlots(
  account: SlotAccount | undefined,
  { limit, inUse, demand, spare }: SlotRequest,
  { holder, sequence, slotLeaseMs, nowMs }: Exchange,
): { readonly account: SlotAccount; readonly answer: SlotAnswer } {
  // Not later than a new lease, even if the clock jumped back.
  const latestMs = nowMs + slotLeaseMs;
  const alive = Object.entries(account ?? {})
    .filter(([, { expiresMs }]) => expiresMs > nowMs)
    .map(([id, each]): [string, HeldSlots] => [id, { ...each, expiresMs: Math.min(each.expiresMs, latestMs) }]);
  const others = alive.reduce((sum, [id, { slots }]) => (id === holder ? sum : sum + slots), 0);
  const current = alive.find(([id]) => id === holder)?.[1];
  if (current !== undefined && current.sequence >= sequence) {
    return { account: Object.fromEntries(alive), answer: { held: current.slots, others } };
  }
  const left = Math.max(0, limit - others - inUse);
  const needed = Math.min(left, demand);
  const held = inUse + needed + Math.min(spare, Math.floor((left - needed) * spareShare));
  const renewed: HeldSlots = { slots: held, expiresMs: latestMs, sequence };
  return { account: { ...Object.fromEntries(alive), [holder]: renewed }, answer: { held, others } };
}

/** When no holder is left, so that the account may be forgotten. */
export function slotExpiryMs(account: SlotAccount): number {
  return Math.max(...Object.values(account).map(({ expiresMs }) => expiresMs));
}
