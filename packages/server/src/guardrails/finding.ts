/** Defines the findings of guardrails, and the interface of checkers. */
import type { ContentCategory } from "../api/content-categories.ts";
import type { GuardrailAction } from "../config/guardrails.ts";

/** Something in a text that the configuration does not want. */
export interface TextFinding {
  readonly category: ContentCategory;
  readonly action: GuardrailAction;
}

export type Direction = "input" | "output";

/** The same with guardrail and direction, as recorded in telemetry. */
export interface Finding extends TextFinding {
  readonly guardrail: string;
  readonly side: Direction;
}

export interface FilteredText {
  /** The released text; empty once a finding blocks. */
  readonly text: string;
  readonly findings: readonly TextFinding[];
}

/** A request to the endpoint of a guardrail. */
export interface EndpointUse {
  readonly guardrail: string;
  /** As configured. */
  readonly model: string | undefined;
  /** Undefined if the endpoint reports none. */
  readonly inputTokens: number | undefined;
}

/** Called for each request of a call that was answered: it may be charged for. */
export type OnUse = (use: EndpointUse) => void;

/** Judges one text as it grows. */
export interface TextFilter {
  /** Takes the next piece; returns the text that may be released now. Fails as `Checker.judge`. */
  push(piece: string, isLast: boolean): FilteredText | Promise<FilteredText>;
}

/** One guardrail of the configuration. */
export interface Checker {
  readonly name: string;
  /** Whether it may find what is to be redacted. */
  readonly redacts: boolean;
  filter(signal: AbortSignal, onUse?: OnUse): TextFilter;
  /**
   * Checks whole texts, each separately. If one is blocked, none may be released; the returned texts, with all redactions, may
   * be recorded.
   * @throws AppError upstream_failed, upstream_timeout or overloaded when no verdict is available and the text must not pass without one
   */
  judge(texts: readonly string[], signal: AbortSignal, onUse?: OnUse): Promise<readonly FilteredText[]>;
}

export function isBlocked({ findings }: FilteredText): boolean {
  return findings.some(({ action }) => action === "block");
}
