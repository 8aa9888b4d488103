/** Routes of the admin API that show and verify the audit log, under the rules of authority.ts. */
import { auditOutcomes, listAuditEvents, verifyAudit } from "../../api/audit.ts";
import { AppError } from "../../errors.ts";
import { route, type Route } from "../../http/route.ts";
import { namedOrganization, requireWholeOrganization } from "../authority.ts";
import type { ControlDatabase } from "../control-database.ts";
import { pageRequest } from "../list-query.ts";
import { listEvents } from "./list-events.ts";
import { type Anchor, verifyChain } from "./verify-chain.ts";

const longestFilter = 256;

export function auditRoutes(control: ControlDatabase): readonly Route[] {
  return [
    route(listAuditEvents, async ({ query, scope }) => {
      requireWholeOrganization(scope, "see the audit log");
      const named = await namedOrganization(control, scope, query.get("organization_id") ?? undefined);
      const { operator } = scope.key;
      return {
        kind: "json",
        value: await listEvents(control, {
          ...pageRequest(query),
          organizationId: named ?? (operator ? undefined : scope.organizationId),
          actor: textParameter(query, "actor"),
          action: textParameter(query, "action"),
          target: textParameter(query, "target"),
          outcome: outcomeParameter(query),
          startMs: timeParameter(query, "start"),
          endMs: timeParameter(query, "end"),
          isOperator: operator,
        }),
      };
    }),
    route(verifyAudit, async ({ query, scope, signal }) => {
      scope.requireOperator("verify the audit log");
      return { kind: "json", value: await verifyChain(control, { anchor: anchorParameter(query), signal }) };
    }),
  ];
}

function textParameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name) ?? "";
  if (value.length > longestFilter) throw invalid(name, value, `at most ${longestFilter} characters`);
  // No database has it, and Postgres refuses the first one.
  if (/\0/.test(value) || !value.isWellFormed()) throw invalid(name, value, "text without control characters");
  return value === "" ? undefined : value;
}

function outcomeParameter(query: URLSearchParams): string | undefined {
  const value = textParameter(query, "outcome");
  if (value === undefined || auditOutcomes.some((outcome) => outcome === value)) return value;
  throw invalid("outcome", value, auditOutcomes.map((outcome) => JSON.stringify(outcome)).join(", "));
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)$/;

function timeParameter(query: URLSearchParams, name: string): number | undefined {
  const value = textParameter(query, name);
  if (value === undefined) return undefined;
  const ms = rfc3339.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(name, value, "an RFC 3339 time such as 2026-11-24T08:00:00Z");
  return ms;
}

function anchorParameter(query: URLSearchParams): Anchor | undefined {
  const value = textParameter(query, "anchor");
  if (value === undefined) return undefined;
  const { hash, sequence } = /^(?<sequence>\d{1,15}):(?<hash>[0-9a-f]{64})$/.exec(value)?.groups ?? {};
  if (hash === undefined) throw invalid("anchor", value, "SEQUENCE:HASH, as an earlier verification reported it");
  return { sequence: Number(sequence), hash };
}

function invalid(param: string, value: string, expected: string): AppError {
  const shown = JSON.stringify(value.slice(0, 100).toWellFormed());
  return new AppError("invalid_request", `${param} is ${shown}; expected ${expected}.`, { param });
}
