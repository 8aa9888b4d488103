/**
 * What happens to each entry of a LogQL query: the stages, compiled once and run for every entry.
 * https://grafana.com/docs/loki/latest/query/log_queries/#log-pipeline
 */
import type { Labels } from "@sounding/promql/series/labels";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { Stage, Unwrap } from "../syntax/ast.ts";
import { compileStage } from "./compile-stage.ts";
import { EntryLabels } from "./entry-labels.ts";
import { LabelCache } from "./label-cache.ts";
import { ParserHints } from "./parser-hints.ts";
import { PipelineResult } from "./pipeline-result.ts";
import { runStages } from "./run-stages.ts";
import type { CompiledStage, Entry } from "./stage.ts";
import { compileUnwrap } from "./unwrap.ts";

export interface PipelineInput {
  /** Nanoseconds since 1970. */
  readonly unixNano: bigint;
  readonly line: string;
  readonly stream: Labels;
  /** Name, value, name, value … */
  readonly structuredMetadata: readonly string[];
}

export interface PipelineOutput {
  readonly line: string;
  /** The labels by where they came from; a label that a stage sets counts as parsed. */
  readonly stream: Labels;
  readonly structuredMetadata: Labels;
  readonly parsed: Labels;
  /** All three together; computed when first read. With `neededLabels`, only those and the labels of errors. */
  readonly labels: Labels;
  /** The unwrapped value; 0 without unwrap. */
  readonly value: number;
  /** One label's value, "" if absent; faster than `labels`. */
  get(name: string): string;
}

export interface Pipeline {
  /**
   * What becomes of an entry; null if a filter drops it. A promise only where the work is long or the budget asks for a
   * pause: await it before the next call.
   */
  process(input: PipelineInput, budget: YieldBudget): PipelineOutput | null | Promise<PipelineOutput | null>;
}

export interface PipelineOptions {
  readonly unwrap: Unwrap | null;
  /** The labels that a metric query groups by: parsers need not extract others. Undefined: all. */
  readonly neededLabels?: ReadonlySet<string> | undefined;
}

/** @throws QueryError `invalid_request` for an invalid expression, pattern or template */
export function compilePipeline(stages: readonly Stage[], { neededLabels, unwrap }: PipelineOptions): Pipeline {
  const hints = new ParserHints();
  const compiled = stages.map((stage) => compileStage(stage, hints));
  if (unwrap !== null) compiled.push(compileUnwrap(unwrap));
  if (neededLabels !== undefined) hints.limitTo([...neededLabels, ...compiled.flatMap(({ reads }) => reads)]);
  return new StagedPipeline(compiled, neededLabels);
}

/** An entry counts as this much work, and each piece of its line of this many characters as one more. */
const workOfEntry = 1;
const charactersPerWork = 256;
/** Labels that stages set are sorted and written when the result is read: each beyond the first few is as much work as this. */
const workOfLabel = 16;
const fewLabels = 64;

class StagedPipeline implements Pipeline {
  readonly #stages: readonly CompiledStage[];
  readonly #needed: ReadonlySet<string> | undefined;
  readonly #cache = new LabelCache();
  /** The labels of an entry that was dropped. */
  #spare: EntryLabels | undefined;
  /** Of reading the labels of the entry before, which may take as long as a pause. */
  #owedWork = 0;

  constructor(stages: readonly CompiledStage[], needed: ReadonlySet<string> | undefined) {
    this.#stages = stages;
    this.#needed = needed;
  }

  process(input: PipelineInput, budget: YieldBudget): PipelineOutput | null | Promise<PipelineOutput | null> {
    const labels = this.#spare ?? new EntryLabels();
    this.#spare = undefined;
    labels.reset(input.stream, input.structuredMetadata);
    const entry: Entry = { unixNano: input.unixNano, line: input.line, value: 0, labels };
    const work = workOfEntry + Math.floor(input.line.length / charactersPerWork) + this.#owedWork;
    this.#owedWork = 0;
    if (budget.spend(work)) {
      return this.#runLater(entry, budget);
    }
    const passes = runStages(this.#stages, entry, budget);
    return typeof passes === "boolean" ? this.#finish(entry, passes) : passes.then((one) => this.#finish(entry, one));
  }

  async #runLater(entry: Entry, budget: YieldBudget): Promise<PipelineOutput | null> {
    await budget.yield();
    return this.#finish(entry, await runStages(this.#stages, entry, budget));
  }

  #finish({ labels, line, value }: Entry, passes: boolean): PipelineOutput | null {
    if (passes) {
      this.#owedWork = Math.max(0, labels.parsedCount - fewLabels) * workOfLabel;
      return new PipelineResult(line, value, labels, this.#needed, this.#cache);
    }
    this.#spare = labels;
    return null;
  }
}
