/**
 * Admits requests that are not calls of models: telemetry by the limits of keys and organizations, administration by a fixed
 * rate, because each request reads or writes the control database, which all organizations share.
 */
import type { Operation } from "../api/operation.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { administrative } from "../permissions.ts";
import { RatePerMinute } from "../rate-per-minute.ts";
import type { Scope } from "../tenant.ts";
import type { Admission } from "./admission.ts";
import type { Limiter } from "./limiter.ts";
import { telemetryClassOf } from "./traffic-class.ts";

const administrationPerMinute = inputLimit({
  area: "Administration",
  bounds: "Requests to the admin API by one organization in a minute",
  value: 3000,
  error: "rate_limited",
});

/** @returns what http/ asks before it reads a body; undefined for calls of models, which their own routes admit */
export function createRequestAdmission(limiter: Limiter, now: () => number = () => performance.now()) {
  const administration = new RatePerMinute(administrationPerMinute, now);
  return (scope: Scope, { permission }: Operation): Admission | Promise<Admission> | undefined => {
    if (administrative.has(permission) || permission === "personal_keys") countAdministration(administration, scope);
    const trafficClass = telemetryClassOf(permission);
    return trafficClass === undefined ? undefined : limiter.admitTelemetry(scope, trafficClass);
  };
}

/** By organization, because one of its keys can create others. */
function countAdministration(rate: RatePerMinute, { organizationId }: Scope): void {
  const waitMs = rate.count(organizationId);
  if (waitMs === 0) return;
  throw new AppError(
    "rate_limited",
    `This organization sent more than ${administrationPerMinute} requests to the admin API in a minute. Send fewer, or wait.`,
    { retryAfterMs: waitMs },
  );
}
