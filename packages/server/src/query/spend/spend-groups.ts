/** What spend is grouped by and which calls it is of, as a request says it, and the columns that this means. */
import { spendDimensions, type SpendDimension, type SpendQuery } from "../../api/spend.ts";
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import { bind, sql, type Statement } from "../../store/statement.ts";
import { projectCondition } from "../conditions.ts";

const mostDimensions = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Dimensions that a query of spend groups by",
  value: 4,
  error: "invalid_request",
});

/** One of the names in `by`. */
export interface Grouping {
  /** As in the request. */
  readonly name: string;
  readonly dimension: SpendDimension | "tag";
  /** Of a tag. */
  readonly tag: string;
}

const tagPrefix = "tag:";

/** @throws AppError invalid_request */
export function parseGroupings(by: string): Grouping[] {
  if (by.trim() === "") return [];
  const names = by.split(",").map((name) => name.trim());
  if (names.length > mostDimensions) {
    throw invalid("by", `names ${names.length} dimensions; expected at most ${mostDimensions}`);
  }
  if (new Set(names).size < names.length) throw invalid("by", `is ${showValue(by)}; expected each dimension once`);
  return names.map((name): Grouping => {
    const dimension = spendDimensions.find((each) => each === name);
    if (dimension !== undefined) return { name, dimension, tag: "" };
    if (name.startsWith(tagPrefix) && name.length > tagPrefix.length) {
      return { name, dimension: "tag", tag: name.slice(tagPrefix.length) };
    }
    throw invalid("by", `has ${showValue(name)}; expected ${spendDimensions.join(", ")} or tag:NAME`);
  });
}

function invalid(param: string, problem: string): AppError {
  return new AppError("invalid_request", `${param} ${problem}.`, { param });
}

type Filters = Pick<SpendQuery, "model" | "engine" | "key_id" | "user_id" | "tags">;

/** The conditions on calls, whose columns have the names of the sums. */
export function filterConditions(filters: Filters, project: string | undefined): Statement[] {
  const { engine, key_id: key, model, tags, user_id: user } = filters;
  return [
    projectCondition(project),
    model == null ? undefined : sql`model_key = ${bind.text(model)}`,
    engine == null ? undefined : sql`engine = ${bind.text(engine)}`,
    key == null ? undefined : sql`key_id = ${bind.text(key)}`,
    user == null ? undefined : sql`user_id = ${bind.text(user)}`,
    ...Object.entries(tags ?? {}).map(([name, value]) => sql`${tagValue(name)} = ${bind.text(value)}`),
  ].filter((condition) => condition !== undefined);
}

/** Empty if a call does not have the tag. */
function tagValue(name: string): Statement {
  return sql`tupleElement(arrayFirst(tag -> tupleElement(tag, 1) = ${bind.text(name)}, tags), 2)`;
}

/** @param dayStarts of the days in the range, in UNIX seconds */
export function groupColumn({ dimension, tag }: Grouping, dayStarts: readonly number[]): Statement {
  switch (dimension) {
    case "day":
      return sql`roundDown(toUInt64(ended_seconds), ${bind.uint64s(dayStarts)})`;
    case "model":
      return sql`model_key`;
    case "engine":
      return sql`engine`;
    case "project":
      return sql`project`;
    case "key":
      return sql`key_id`;
    case "user":
      return sql`user_id`;
    case "tag":
      return tagValue(tag);
    case "organization":
      // One organization's rows are read at a time.
      return sql`''`;
  }
}

/** Whether the sums without users and tags have all that is asked. */
export function needsDetails(groupings: readonly Grouping[], { tags, user_id: user }: Filters): boolean {
  const isDetail = ({ dimension }: Grouping): boolean => dimension === "user" || dimension === "tag";
  return user != null || Object.keys(tags ?? {}).length > 0 || groupings.some(isDetail);
}
