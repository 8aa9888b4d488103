/**
 * Collects the points of converted series as an ExportMetricsServiceRequest. It is encoded in parts, because messages of a type
 * that follow one another are one message: so no more is held as objects than a part, whatever the request expands to.
 */
import { AppError } from "../../errors.ts";
import { concatChunks } from "../../http/collect-body.ts";
import type { MemoryCharge } from "../../memory-budget.ts";
import { encodeMessage } from "../../protobuf/encode-message.ts";
import { metricExport } from "../../protobuf/otlp-messages.ts";

/** What the points of a series have in common, and which kind of metric they belong to. */
export interface Metric {
  /** Attributes of the resource. */
  readonly resource: readonly object[];
  readonly head: object;
  readonly kind: "gauge" | "sum" | "histogram" | "exponentialHistogram";
  /** The fields of its data besides the points. */
  readonly data: object;
}

interface ResourceGroup {
  readonly resource: object;
  readonly metrics: object[];
}

/** Points that are held as objects, in bytes of their encoding. */
const partBytes = 65_536;

export interface PartLimits {
  /** Largest request. */
  readonly limitBytes: number;
  readonly memory: Pick<MemoryCharge, "add" | "remove">;
}

export class OtlpParts {
  readonly #parts: Buffer[] = [];
  readonly #limits: PartLimits;
  #byResource = new Map<string, ResourceGroup>();
  #current: { readonly metric: Metric; readonly dataPoints: object[] } | undefined;
  /** Of all points, and of those that are not encoded: estimates, in which a bucket without values counts like any other. */
  #estimatedBytes = 0;
  #unencodedBytes = 0;
  /** Of the parts. */
  #bytes = 0;

  constructor(limits: PartLimits) {
    this.#limits = limits;
  }

  /**
   * Adds a point, and encodes a part if there is enough.
   * @param bytes about as many as its encoding has at most
   * @throws AppError payload_too_large, or what the memory's charge throws
   */
  add(metric: Metric, point: object, bytes: number): void {
    const { limitBytes } = this.#limits;
    this.#estimatedBytes += bytes;
    if (this.#estimatedBytes > limitBytes) {
      throw new AppError(
        "payload_too_large",
        `The request has more than ${limitBytes} bytes with the labels of each sample and all buckets of its histograms, which is the limit of this operation. Send smaller requests.`,
      );
    }
    if (this.#current?.metric !== metric) this.#begin(metric);
    this.#current!.dataPoints.push(point);
    this.#unencodedBytes += bytes;
    if (this.#unencodedBytes >= partBytes) this.#encode();
  }

  /** The whole request. */
  async finish(): Promise<Buffer> {
    this.#encode();
    this.#limits.memory.add(this.#bytes);
    const whole = await concatChunks(this.#parts.splice(0), this.#bytes);
    this.#limits.memory.remove(this.#bytes);
    return whole;
  }

  #begin(metric: Metric): void {
    const { data, head, kind, resource } = metric;
    const dataPoints: object[] = [];
    const written = { ...head, [kind]: { ...data, dataPoints } };
    const key = JSON.stringify(resource);
    const group = this.#byResource.get(key);
    if (group === undefined) this.#byResource.set(key, { resource: { attributes: resource }, metrics: [written] });
    else group.metrics.push(written);
    this.#current = { metric, dataPoints };
  }

  #encode(): void {
    if (this.#current === undefined) return;
    const resourceMetrics = Array.from(this.#byResource.values(), ({ metrics, resource }) => ({
      resource,
      scopeMetrics: [{ metrics }],
    }));
    const part = encodeMessage(metricExport.request, { resourceMetrics });
    this.#bytes += part.length;
    this.#limits.memory.add(part.buffer.byteLength);
    this.#parts.push(part);
    this.#byResource = new Map();
    this.#current = undefined;
    this.#unencodedBytes = 0;
  }
}
