/** Encrypts recorded content on its way into rows. */
import type { SealedAt, Sealing } from "../../encryption/telemetry-cipher.ts";

/** Encrypts a value of one organization. @param kind a letter of `attributeKinds`, or `plainKind` */
export type SealContent = (kind: string) => Sealing;

/** @param seal absent: nothing is encrypted */
export function sealFor(
  seal: ((at: SealedAt) => Sealing) | undefined,
  organizationId: string,
): SealContent | undefined {
  return seal && ((kind) => seal({ organizationId, kind }));
}
