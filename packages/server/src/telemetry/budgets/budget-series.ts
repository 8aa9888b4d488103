/**
 * Writes what is used of budgets as metrics into the telemetry of their organization, for alert rules and dashboards: every minute,
 * and when a threshold was reached.
 */
import type { Logger } from "../../logger.ts";
import { encodeMessage } from "../../protobuf/encode-message.ts";
import { metricExport } from "../../protobuf/otlp-messages.ts";
import type { Scope } from "../../tenant.ts";
import type { Ingest } from "../otlp/ingest.ts";
import { metricSignal } from "../otlp/signals.ts";

/** Amounts in the currency's unit. */
export interface BudgetSample {
  readonly organizationId: string;
  readonly name: string;
  readonly currency: string;
  readonly period: string;
  readonly amount: number;
  readonly used: number;
}

export interface BudgetSeriesParts {
  /** Those that have one ledger. */
  readonly samples: () => readonly BudgetSample[];
  readonly scopeOf: (organizationId: string) => Promise<Scope | undefined>;
  readonly ingest: Ingest;
  readonly logger: Logger;
}

/** Queries look back five minutes. */
const intervalMs = 60_000;

export class BudgetSeries {
  readonly #parts: BudgetSeriesParts;
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: BudgetSeriesParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.write(), intervalMs).unref();
  }

  /** @param organizationId absent: of all */
  write(organizationId?: string): void {
    this.#writing = this.#writing.then(() => this.#write(organizationId));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
  }

  /** Never rejects. */
  async #write(organizationId: string | undefined): Promise<void> {
    const { ingest, logger, samples, scopeOf } = this.#parts;
    const wanted = samples().filter((each) => organizationId === undefined || each.organizationId === organizationId);
    for (const [id, each] of Map.groupBy(wanted, (sample) => sample.organizationId)) {
      try {
        const scope = await scopeOf(id);
        if (scope === undefined) continue;
        await ingest({ scope, signal: metricSignal, encoding: "protobuf", bytes: encode(each) });
      } catch (error) {
        logger.debug({ error, organization_id: id }, "metrics of budgets could not be stored");
      }
    }
  }
}

function encode(samples: readonly BudgetSample[]): Buffer {
  const timeUnixNano = `${Date.now()}000000`;
  const metric = (name: string, description: string, valueOf: (sample: BudgetSample) => number) => ({
    name,
    description,
    gauge: {
      dataPoints: samples.map((sample) => ({
        timeUnixNano,
        asDouble: valueOf(sample),
        attributes: attributesOf({ budget: sample.name, currency: sample.currency, period: sample.period }),
      })),
    },
  });
  const metrics = [
    metric("sounding.budget.used", "What is used of a budget in its current period.", ({ used }) => used),
    metric("sounding.budget.amount", "The amount of a budget.", ({ amount }) => amount),
  ];
  const resource = { attributes: attributesOf({ "service.name": "sounding" }) };
  const scopeMetrics = [{ scope: { name: "sounding" }, metrics }];
  return encodeMessage(metricExport.request, { resourceMetrics: [{ resource, scopeMetrics }] });
}

function attributesOf(attributes: Readonly<Record<string, string>>) {
  return Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}
