/** The conditions of a query on the rows of `logs`, without those on time. They select all rows that the query needs. */
import type { EntriesRequest } from "@sounding/logql/storage";
import { callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import { lineConditions } from "./line-conditions.ts";
import type { LogsQuery } from "./logs-query.ts";
import { metadataConditions } from "./metadata-conditions.ts";
import { streamConditions } from "./stream-conditions.ts";

export interface RowConditions {
  readonly condition: Statement;
  /** Whether every row that meets the condition and has no structured body is one that the query needs. */
  readonly isExact: boolean;
  /** Whether an index excludes most blocks if few rows meet the condition. */
  readonly isIndexed: boolean;
}

type Filters = Pick<EntriesRequest, "lineFilters" | "matchers" | "metadataMatchers" | "signal" | "yieldBudget">;

/** @returns null if the query needs no rows */
export async function rowConditions(request: Filters, query: LogsQuery): Promise<RowConditions | null> {
  const { lineFilters, matchers, metadataMatchers } = request;
  const ofStreams = await streamConditions(matchers, query, request);
  if (ofStreams.isEmpty) return null;
  const ofMetadata = await metadataConditions(metadataMatchers, query, request);
  if (ofMetadata.isEmpty) return null;
  const ofLines = lineConditions(lineFilters);
  return {
    condition: allOf([
      sql`organization = ${callerOrganization}`,
      projectCondition(query.project),
      ...ofStreams.conditions,
      ...ofMetadata.conditions,
      ...ofLines.conditions,
    ]),
    isExact: ofStreams.inexact.length === 0 && ofMetadata.inexact.length === 0 && ofLines.isExact,
    isIndexed: ofLines.isIndexed,
  };
}
