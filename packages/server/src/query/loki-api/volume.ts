/** Serves the volume of log lines by labels, of Loki's HTTP API. https://grafana.com/docs/loki/latest/reference/loki-http-api/#query-log-volume */
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import {
  compareLabels,
  entriesOf,
  getLabel,
  keepLabels,
  labelsFrom,
  type Labels,
} from "@sounding/promql/series/labels";
import { defaultLimits } from "@sounding/logql/evaluate/limits";
import type { StreamVolume } from "../logs/streams.ts";
import { labelsJson, listOf } from "../metrics/prometheus-json.ts";
import { invalidParameter } from "../request-parameters.ts";
import { readSelector, streamsRequest, type LokiCall } from "./loki-call.ts";
import type { LokiRange } from "./loki-parameters.ts";
import { sampleJson } from "./result-json.ts";
import { statisticsJson } from "./statistics-json.ts";

/** Bytes by the steps of a part of the request's range. */
interface VolumePart {
  readonly range: LokiRange;
  /** Undefined: one step for the whole part. */
  readonly stepNanos: bigint | undefined;
  readonly bytes: StreamVolume["bytes"];
}

interface Volume {
  readonly labels: Labels;
  readonly totalBytes: number;
  /** In the order of their times. */
  readonly parts: readonly VolumePart[];
}

interface VolumeSample {
  readonly endUnixNano: bigint;
  readonly bytes: number;
}

interface VolumeQuery {
  readonly aggregateBy: "series" | "labels";
  /** The volumes of a range, in steps or as a whole. */
  read(range: LokiRange, stepNanos: bigint | undefined): Promise<Volume[]>;
}

const defaultLimit = 100;
/** The name of the label that has the name of a label, while volumes are summed by labels. */
const nameLabel = "name";

export async function serveVolume(call: LokiCall): Promise<unknown> {
  const query = await volumeQuery(call);
  const volumes = await query.read(call.parameters.range(call.nowUnixNano), undefined);
  return volumesJson("vector", largest(volumes, call), query);
}

/** The first step may be shorter: the others begin at multiples of the step, as in Loki. */
export async function serveVolumeRange(call: LokiCall): Promise<unknown> {
  const query = await volumeQuery(call);
  const range = call.parameters.range(call.nowUnixNano);
  const stepNanos = stepOf(call, range);
  const aligned = ((range.fromUnixNano + stepNanos - 1n) / stepNanos) * stepNanos;
  const middle = aligned < range.toUnixNano ? aligned : range.toUnixNano;
  const head = middle > range.fromUnixNano ? await query.read({ ...range, toUnixNano: middle }, undefined) : [];
  const rest = middle < range.toUnixNano ? await query.read({ ...range, fromUnixNano: middle }, stepNanos) : [];
  const merged = new Map(head.map((volume) => [volume.labels.key, volume]));
  for (const volume of rest) {
    const first = merged.get(volume.labels.key);
    merged.set(volume.labels.key, first === undefined ? volume : joined(first, volume));
    if (call.budget.spend(mergeCost)) await call.budget.yield();
  }
  return volumesJson("matrix", largest([...merged.values()], call), query);
}

/** The cost of merging a volume, in samples. */
const mergeCost = 8;

function joined(first: Volume, second: Volume): Volume {
  return {
    labels: first.labels,
    totalBytes: first.totalBytes + second.totalBytes,
    parts: [...first.parts, ...second.parts],
  };
}

function stepOf({ parameters }: LokiCall, range: LokiRange): bigint {
  const stepNanos = BigInt(Math.max(1, Math.round(parameters.stepMs(range) * 1e6)));
  const { maxPointsPerSeries } = defaultLimits;
  if ((range.toUnixNano - range.fromUnixNano) / stepNanos <= BigInt(maxPointsPerSeries)) return stepNanos;
  throw new AppError(
    "invalid_request",
    `exceeded maximum resolution of ${maxPointsPerSeries} points per time series. Try increasing the value of the step parameter`,
    { param: "step" },
  );
}

async function volumeQuery(call: LokiCall): Promise<VolumeQuery> {
  const { logs, parameters } = call;
  const matchers = await readSelector("query", parameters.required("query"), call);
  const aggregateBy = parameters.text("aggregateBy") ?? "series";
  if (aggregateBy !== "series" && aggregateBy !== "labels") {
    throw invalidParameter("aggregateBy", `is ${showValue(aggregateBy)}; expected "series" or "labels"`);
  }
  const targets = (parameters.text("targetLabels") ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const wanted = new Set(targets.length > 0 ? targets : matchers.map(({ name }) => name));
  const labelSets = (stream: Labels): Labels[] => {
    if (targets.some((name) => getLabel(stream, name) === "")) return [];
    if (aggregateBy === "series") return [wanted.size === 0 ? stream : keepLabels(stream, wanted)];
    const names = targets.length > 0 ? targets : [...entriesOf(stream)].map(([name]) => name);
    return names.map((name) => labelsFrom([[nameLabel, name]]));
  };
  return {
    aggregateBy,
    async read(range, stepNanos) {
      const request = { ...streamsRequest(matchers, range, call), labelSets, stepNanos };
      const volumes = await logs.volumes(request);
      return volumes.map(({ bytes, labels, totalBytes }) => ({
        labels,
        totalBytes,
        parts: [{ range, stepNanos, bytes }],
      }));
    },
  };
}

/** Without steps of no bytes. */
function samplesOf({ bytes, range: { fromUnixNano, toUnixNano }, stepNanos }: VolumePart): VolumeSample[] {
  return [...bytes]
    .filter(([, each]) => each > 0)
    .sort(([left], [right]) => left - right)
    .map(([index, each]) => {
      const end = stepNanos === undefined ? toUnixNano : fromUnixNano + BigInt(index + 1) * stepNanos;
      return { endUnixNano: end < toUnixNano ? end : toUnixNano, bytes: each };
    });
}

/** The largest first, by all their bytes. */
function largest(volumes: readonly Volume[], { parameters }: LokiCall): readonly Volume[] {
  const limit = parameters.count("limit", defaultLimit, { least: 0 });
  return volumes
    .filter(({ totalBytes }) => totalBytes > 0)
    .sort((left, right) => right.totalBytes - left.totalBytes || compareLabels(left.labels, right.labels))
    .slice(0, limit === 0 ? defaultLimit : limit);
}

function volumesJson(
  resultType: "vector" | "matrix",
  volumes: readonly Volume[],
  { aggregateBy }: VolumeQuery,
): unknown {
  const item = ({ labels, parts }: Volume): unknown => {
    const metric = aggregateBy === "labels" ? { [getLabel(labels, nameLabel)]: "" } : labelsJson(labels);
    const values = parts
      .flatMap(samplesOf)
      .map(({ bytes, endUnixNano }) => sampleJson(Number(endUnixNano / 1_000_000n) / 1000, bytes));
    return resultType === "vector" ? { metric, value: values[0] } : { metric, values };
  };
  return { status: "success", data: { resultType, result: listOf(volumes, item), stats: statisticsJson() } };
}
