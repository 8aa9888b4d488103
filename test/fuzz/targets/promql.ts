/** PromQL: over Prometheus' HTTP API, and directly to the parser and the printer. */
import { toAppError } from "../../../packages/server/src/errors.ts";
import { Budget, defaultLimits } from "@sounding/promql/evaluate/budget";
import { parseQuery } from "@sounding/promql/syntax/parse-query";
import { parseExpression } from "@sounding/promql/syntax/parse";
import { printExpression } from "@sounding/promql/syntax/print";
import { inUrl, writeMessage } from "../http-message.ts";
import { promqlSteps, promqlText, promqlTimes, seriesSelector } from "../promql-text.ts";
import { presentMs, type Random } from "../random.ts";
import type { DirectTarget, ServedTarget } from "../target.ts";

function parametersOf(random: Random): {
  readonly path: string;
  readonly parameters: readonly (readonly [string, string])[];
} {
  const anyTime = (): string =>
    random.chance(0.8) ? String(presentMs / 1000 - random.below(3600)) : random.pick(promqlTimes);
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2:
      return {
        path: "query",
        parameters: [
          ["query", promqlText(random)],
          ["time", anyTime()],
        ],
      };
    case 3:
    case 4:
    case 5:
      return {
        path: "query_range",
        parameters: [
          ["query", promqlText(random)],
          ["start", String(presentMs / 1000 - random.size(100_000))],
          ["end", anyTime()],
          ["step", random.pick(promqlSteps)],
        ],
      };
    case 6:
      return {
        path: "query_exemplars",
        parameters: [
          ["query", promqlText(random)],
          ["start", anyTime()],
        ],
      };
    case 7:
      return {
        path: "series",
        parameters: Array.from({ length: 1 + random.size(10) }, () => ["match[]", seriesSelector(random)] as const),
      };
    default:
      return {
        path: random.pick(["labels", "label/job/values", "label/__name__/values"]),
        parameters: [
          ["match[]", seriesSelector(random)],
          ["start", anyTime()],
        ],
      };
  }
}

export const prometheusTarget: ServedTarget = {
  kind: "served",
  name: "prometheus",
  perSecond: 100,
  transport: "http1",
  share: 2,
  generate(random) {
    const { path, parameters } = parametersOf(random);
    const text = parameters.map(([name, value]) => `${encodeURIComponent(name)}=${inUrl(random, value)}`).join("&");
    const authorization = ["authorization", "Bearer {key}"] as const;
    const url = `/prometheus/api/v1/${path}`;
    if (text.length < 12_000 && random.chance(0.6))
      return writeMessage({ method: "GET", path: `${url}?${text}`, headers: [authorization], body: Buffer.alloc(0) });
    const headers = [authorization, ["content-type", "application/x-www-form-urlencoded"]] as const;
    return writeMessage({ method: "POST", path: url, headers, body: Buffer.from(text) });
  },
};

/** An accepted query can be printed, and the printed text parses to the same tree. */
export const promqlParserTarget: DirectTarget = {
  kind: "direct",
  name: "promql-parser",
  perSecond: 1800,
  share: 2,
  generate: (random) => Buffer.from(promqlText(random)),
  async run(input) {
    const text = Buffer.from(input).toString("utf8");
    let printed: string;
    try {
      printed = printExpression(await parseQuery(text, new Budget(defaultLimits, new AbortController().signal)));
    } catch (error) {
      const { status } = toAppError(error);
      if (status < 500) return String(status);
      throw error;
    }
    const again = printExpression(parseExpression(printed));
    if (again !== printed) throw new Error(`printed ${printed.slice(0, 200)}, then ${again.slice(0, 200)}`);
    return "parsed";
  },
};
