/** The checks of `/readyz`: required ones, without which no call can be served, and informational ones. */
import type { DiskSpace } from "./disk-space.ts";
import { toAppError } from "../errors.ts";
import type { StatusParts } from "./routes.ts";
import type { Store } from "../store/store.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { createWriteProbe } from "../tenancy/write-probe.ts";

interface HealthParts {
  readonly control: ControlDatabase;
  readonly store: Store;
  readonly disk: DiskSpace;
  /** Why shared limits cannot be checked; absent: limits are not shared. */
  readonly sharedLimits?: (() => string | undefined) | undefined;
  /** Whether the server has begun to shut down. */
  isClosing(): boolean;
}

export function createHealthChecks({
  control,
  store,
  disk,
  sharedLimits,
  isClosing,
}: HealthParts): Pick<StatusParts, "readiness" | "informational" | "disabled"> {
  const checkWrites = createWriteProbe(control);
  const { disabled, reason } = store.state();
  return {
    readiness: async () => ({
      control_database: await checkReads(control),
      ...(isClosing() ? { shutdown: "The server is shutting down." } : {}),
    }),
    informational: async () => ({
      control_database_writes: await checkWrites(),
      data_disk: await checkDisk(disk),
      ...(sharedLimits === undefined ? {} : { shared_limits: sharedLimits() }),
      ...(disabled === true ? {} : await checkStore(store)),
    }),
    disabled: disabled === true ? { telemetry_store: reason } : {},
  };
}

async function checkReads(control: ControlDatabase): Promise<string | undefined> {
  try {
    await control.read((database) => database.selectFrom("organizations").select("id").limit(1).execute());
    return undefined;
  } catch (error) {
    return toAppError(error).message;
  }
}

async function checkDisk(disk: DiskSpace): Promise<string | undefined> {
  await disk.refresh();
  return disk.problem();
}

/** Why telemetry is unavailable, and which of it is damaged. */
async function checkStore(store: Store): Promise<Record<string, string | undefined>> {
  const { ready, reason, damage } = await store.check();
  return { telemetry_store: ready ? undefined : (reason ?? "unavailable"), telemetry_data: damage };
}
