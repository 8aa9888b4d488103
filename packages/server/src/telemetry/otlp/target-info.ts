/**
 * Writes a point of `target_info` for each minute in which a resource has points of a request, as Prometheus does.
 * https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#resource-attributes
 */
import { metricTypes, points, series, targetInfo, temporalities } from "../../store/metric-tables.ts";
import { fixed64At } from "../../protobuf/numbers.ts";
import { Hash64 } from "../rows/hash64.ts";
import type { ExportBuilder } from "./export-builder.ts";
import type { ResourceScope } from "./resource-scopes.ts";

const metric = Buffer.from(targetInfo.metric, "utf8");
const unit = Buffer.from(targetInfo.unit, "utf8");
/** An instant selector looks back five minutes, so it finds the point of a process that sends once a minute. */
const minuteNanos = 60e9;

/** The resource of the points that are being read. */
interface Target {
  readonly group: ResourceScope;
  /** Minutes that have a point. */
  readonly minutes: Set<number>;
  lastMinute: number;
}

export class TargetInfoWriter {
  readonly #builder: ExportBuilder;
  readonly #hash = new Hash64();
  /** By project and resource: the resource may be repeated in a request. */
  readonly #minutes = new Map<string, Set<number>>();
  #target: Target | undefined;

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
  }

  /** @param at position of the time of one of the resource's points */
  note(bytes: Uint8Array, at: number, group: ResourceScope): void {
    const target = this.#target?.group.resourceId === group.resourceId ? this.#target : this.#begin(group);
    const minute = Math.floor(fixed64At(bytes, at) / minuteNanos);
    if (minute === target.lastMinute) return;
    target.lastMinute = minute;
    if (target.minutes.has(minute)) return;
    target.minutes.add(minute);
    this.#write(bytes.subarray(at, at + 8), group);
  }

  #begin(group: ResourceScope): Target {
    const key = `${Buffer.from(group.resourceId).toString("hex")} ${Buffer.from(group.project).toString("utf8")}`;
    let minutes = this.#minutes.get(key);
    if (minutes === undefined) this.#minutes.set(key, (minutes = new Set()));
    return (this.#target = { group, minutes, lastMinute: Number.NaN });
  }

  #write(time: Uint8Array, group: ResourceScope): void {
    const { organization } = this.#builder;
    const hash = this.#hash.reset();
    hash.addBytes(group.project, 0, group.project.length).addBytes(metric, 0, metric.length);
    hash.addBytes(unit, 0, unit.length).addBytes(group.resourceId, 0, 8).finish();
    if (this.#builder.isNew("series", hash.toBigInt())) this.#writeSeries(group);
    const block = this.#builder.block(points);
    const { columns } = block;
    columns.organization.bytes(organization, 0, organization.length);
    columns.metric.bytes(metric, 0, metric.length);
    columns.series_id.copy(hash.bytes(), 0);
    columns.time.copy(time, 0);
    columns.value.float(1);
    columns.days.unsigned(group.days);
    block.endRow();
  }

  #writeSeries(group: ResourceScope): void {
    const { nowMs, organization } = this.#builder;
    const block = this.#builder.block(series);
    const { columns } = block;
    columns.organization.bytes(organization, 0, organization.length);
    columns.project.bytes(group.project, 0, group.project.length);
    columns.metric.bytes(metric, 0, metric.length);
    columns.series_id.copy(this.#hash.bytes(), 0);
    columns.type.unsigned(metricTypes.gauge);
    columns.unit.bytes(unit, 0, unit.length);
    columns.temporality.unsigned(temporalities.unspecified);
    columns.service.bytes(group.service, 0, group.service.length);
    columns.resource_id.copy(group.resourceId, 0);
    columns.seen.unsigned(Math.floor(nowMs / 1000));
    columns.days.unsigned(group.days);
    block.endRow();
  }
}
