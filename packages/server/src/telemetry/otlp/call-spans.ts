/**
 * Remembers the spans around model calls that arrived last. An application reports a call by several spans: those of an
 * agent framework and of the SDK below it, of which the one that ends first counts, and that of the HTTP request. They
 * arrive together or within seconds, children first. Comparing them in queries would compare all calls with all others.
 * docs/adr/0035-rollups.md
 */

/** Spans that are remembered in each of two generations, about 100 bytes each. */
const spansPerGeneration = 100_000;

/** Operations that different layers report for the same call. */
const textOperations: ReadonlySet<string> = new Set(["chat", "text_completion", "generate_content"]);

/** A model call's span: keys of telemetry/rows/call-keys.ts. */
export interface CallSpan {
  readonly operation: string;
  readonly span: bigint;
  /** Undefined for a root. */
  readonly parent: bigint | undefined;
  readonly response: bigint | undefined;
}

export class CallSpans {
  #young = new Map<string, bigint>();
  #old = new Map<string, bigint>();

  /** Remembers a model call's span; returns whether a span below it or with the same response counts already. */
  isRepeated(organizationId: string, { operation, parent, response, span }: CallSpan): boolean {
    // A call of one kind can contain one of another kind: a chat completion that first searches by embeddings.
    const above = `${organizationId} above ${textOperations.has(operation) ? "text" : operation}`;
    const isAbove = this.#find(`${above} ${span}`) !== undefined;
    const responseName = `${organizationId} response ${response}`;
    const first = response === undefined ? undefined : this.#find(responseName);
    if (response !== undefined && first === undefined) this.#add(responseName, span);
    if (parent !== undefined) this.#add(`${above} ${parent}`, span);
    return isAbove || (first !== undefined && first !== span);
  }

  /** Remembers the span of an HTTP request by the span above it. */
  addRequest(organizationId: string, parent: bigint, span: bigint): void {
    this.#add(`${organizationId} request ${parent}`, span);
  }

  /** The HTTP request below a span. */
  requestBelow(organizationId: string, span: bigint): bigint | undefined {
    return this.#find(`${organizationId} request ${span}`);
  }

  #find(name: string): bigint | undefined {
    return this.#young.get(name) ?? this.#old.get(name);
  }

  #add(name: string, span: bigint): void {
    if (this.#young.size >= spansPerGeneration) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(name, span);
  }
}
