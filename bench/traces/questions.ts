/** The measured requests of Tempo's API, with their targets and with what counts as the answer. */
import { rareStructure } from "./planned-traces.ts";
import { traceIdOf, userOf } from "./span-requests.ts";

export interface Question {
  readonly title: string;
  readonly path: string;
  /** Of p95, in milliseconds. */
  readonly targetMs?: number;
  /** What the answer has, to compare. */
  readonly count: (answer: string) => number;
}

interface Times {
  /** Seconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly requests: number;
}

interface Series {
  readonly samples?: readonly { readonly value?: number }[];
}

function foundTraces(answer: string): number {
  return (JSON.parse(answer) as { traces?: unknown[] }).traces?.length ?? 0;
}

/** Rates are per second of a step. */
const stepSeconds = 300;

function spansOfRates(answer: string): number {
  const { series = [] } = JSON.parse(answer) as { series?: Series[] };
  const total = series.flatMap(({ samples = [] }) => samples).reduce((sum, { value = 0 }) => sum + value, 0);
  return Math.round(total * stepSeconds);
}

function seriesOf(answer: string): number {
  return ((JSON.parse(answer) as { series?: unknown[] }).series ?? []).length;
}

function tagNames(answer: string): number {
  const { scopes = [] } = JSON.parse(answer) as { scopes?: { name: string; tags?: string[] }[] };
  return scopes.filter(({ name }) => name !== "intrinsic").reduce((sum, { tags = [] }) => sum + tags.length, 0);
}

function tagValues(answer: string): number {
  return ((JSON.parse(answer) as { tagValues?: unknown[] }).tagValues ?? []).length;
}

function resourcesOf(answer: string): number {
  const { trace } = JSON.parse(answer) as { trace?: { resourceSpans?: unknown[] } };
  return trace?.resourceSpans?.length ?? 0;
}

/** Counts every span of the day. */
export function allSpansPath(times: Pick<Times, "from" | "to">): string {
  return rangePath("{ } | rate()", times);
}
export const countAllSpans = spansOfRates;

function rangePath(query: string, { from, to }: Pick<Times, "from" | "to">): string {
  return `/api/metrics/query_range?q=${encodeURIComponent(query)}&start=${from}&end=${to}&step=${stepSeconds}s`;
}

export function questionsOf({ from, requests, to }: Times): readonly Question[] {
  const range = `start=${from}&end=${to}`;
  const search = (query: string, targetMs?: number): Question => ({
    title: `\`${query}\``,
    path: `/api/search?q=${encodeURIComponent(query)}&limit=20&${range}`,
    count: foundTraces,
    ...(targetMs === undefined ? {} : { targetMs }),
  });
  const values = (tag: string): Question => ({
    title: `values of \`${tag}\``,
    path: `/api/v2/search/tag/${tag}/values?${range}`,
    count: tagValues,
  });
  const middle = Math.floor(requests / 2);
  const traceId = traceIdOf(middle, 1);
  return [
    search("{ status = error && duration > 1s }", 100),
    search('{ resource.service.name = "gateway" } >> { name = "SELECT orders" }', 400),
    search(`${rareStructure.upper} >> ${rareStructure.lower}`, 400),
    search('{ span.http.route = "/cart/{id}" && span.http.response.status_code = 500 }'),
    search(`{ span.user.id = "${userOf(middle, 0)}" }`),
    {
      title: "`{ } | rate() by (resource.service.name)`",
      path: rangePath("{ } | rate() by (resource.service.name)", { from, to }),
      targetMs: 300,
      count: spansOfRates,
    },
    {
      title: "`{ } | quantile_over_time(duration, .95)`",
      path: rangePath("{ } | quantile_over_time(duration, .95)", { from, to }),
      count: seriesOf,
    },
    { title: "tag names", path: `/api/v2/search/tags?${range}`, count: tagNames },
    values("name"),
    values("resource.service.name"),
    values("span.http.route"),
    { title: "trace by ID", path: `/api/v2/traces/${traceId}`, count: resourcesOf },
  ];
}
