/** The databases to which an installation is moved, and why they may not be fit. docs/adr/0042-deletion-backup-and-move.md */
import { AppError } from "../errors.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { openInstallation, type Installation } from "./installation.ts";
import type { MovePlan } from "./move-plan.ts";

/**
 * Locks the target's data directory, unless it has been locked or is not to be created.
 * @throws AppError conflict if a server runs on it
 */
export async function openTarget(
  { fromDirectory, to, toDirectory }: MovePlan,
  signal: AbortSignal,
  { isLocked = toDirectory === fromDirectory } = {},
): Promise<Installation> {
  const target = await openInstallation(to, signal, { isMoved: true, isLocked });
  if (!target.isServed) return target;
  await target[Symbol.asyncDispose]();
  throw new AppError("conflict", `A server runs on the new data directory ${toDirectory}. Stop it.`);
}

/** @throws AppError conflict */
export async function requireNoOrganization(control: ControlDatabase): Promise<void> {
  const any = await control.read((database) =>
    database.selectFrom("organizations").select("id").limit(1).executeTakeFirst(),
  );
  if (any === undefined) return;
  throw new AppError(
    "conflict",
    "The control database of the new configuration has organizations already. An installation is moved into an empty one.",
  );
}

export function targetHasRows(): AppError {
  return new AppError(
    "conflict",
    "The telemetry store of the new configuration has rows already. An installation is moved into an empty one.",
  );
}
