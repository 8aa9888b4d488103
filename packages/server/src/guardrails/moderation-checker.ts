/**
 * Checks texts with a moderation endpoint. A growing text is checked in pieces, each with the end of the one before as
 * context; a piece is released once it was checked.
 */
import type { ModerationGuardrailSettings } from "../config/guardrails.ts";
import { AppError, toAppError, defaultRetryAfterMs } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";
import {
  isBlocked,
  type Checker,
  type FilteredText,
  type OnUse,
  type TextFilter,
  type TextFinding,
} from "./finding.ts";
import type { CategoryScore, ModerationClient } from "./moderation-client.ts";
import { pieceEnd } from "./text-pieces.ts";

export interface ModerationParts {
  readonly name: string;
  readonly settings: ModerationGuardrailSettings;
  readonly client: Pick<ModerationClient, "judge">;
  readonly logger: Logger;
}

/** For whole texts: characters of one input, and inputs of one request. */
const longestInput = 8_000;
const mostInputs = 32;
/** After splitting this many characters, the clock is checked. */
const shortPiece = 400;
/** Characters of already released text. */
const contextLength = 300;

export function createModerationChecker(parts: ModerationParts): Checker {
  const { categories, replacement } = parts.settings;
  return {
    name: parts.name,
    redacts: Object.values(categories).some(({ action }) => action === "redact"),
    filter: (signal, onUse) => new ModerationFilter({ ...parts, signal, onUse }),
    async judge(texts, signal, onUse) {
      const yielder = new CooperativeYield();
      const pieces: { index: number; piece: string }[] = [];
      for (const [index, text] of texts.entries()) {
        for (const piece of splitText(text, longestInput)) {
          pieces.push({ index, piece });
          if (yielder.isDue(piece.length > shortPiece ? longStep : 1)) await yielder.yield();
        }
      }
      const judged = texts.map((): { text: string; findings: TextFinding[] } => ({ text: "", findings: [] }));
      for (let at = 0; at < pieces.length; at += mostInputs) {
        const asked = pieces.slice(at, at + mostInputs);
        const findings = await findIn(
          asked.map(({ piece }) => piece),
          { ...parts, signal, onUse },
        );
        for (const [order, { index, piece }] of asked.entries()) {
          const found = { text: piece, findings: findings[order]! };
          const target = judged[index]!;
          target.findings.push(...found.findings);
          target.text += isRedacted(found) ? replacement : piece;
        }
        if (yielder.isDue(mostInputs)) await yielder.yield();
      }
      return judged;
    },
  };
}

class ModerationFilter implements TextFilter {
  readonly #parts: Asking;
  #held = "";
  #context = "";

  constructor(parts: Asking) {
    this.#parts = parts;
  }

  async push(piece: string, isLast: boolean): Promise<FilteredText> {
    const { replacement, batch_characters: longest } = this.#parts.settings;
    this.#held += piece;
    let text = "";
    const findings: TextFinding[] = [];
    const yielder = new CooperativeYield();
    for (;;) {
      // A piece that is not sent, having no letters, is judged without a wait.
      if (yielder.isDue(longStep)) await yielder.yield();
      const end = pieceEnd(this.#held, { longest, isLast });
      if (end === 0) return { text, findings };
      const next = this.#held.slice(0, end);
      this.#held = this.#held.slice(end);
      const [found] = await findIn([this.#context + next], this.#parts);
      const judged = { text: next, findings: found! };
      findings.push(...judged.findings);
      if (isBlocked(judged)) return { text: "", findings };
      text += isRedacted(judged) ? replacement : next;
      // What was found once is not found again because of what came before.
      this.#context = judged.findings.length > 0 ? "" : (this.#context + next).slice(-contextLength).toWellFormed();
    }
  }
}

function isRedacted({ findings }: FilteredText): boolean {
  return findings.some(({ action }) => action === "redact");
}

function* splitText(text: string, longest: number): Generator<string, void, undefined> {
  for (let rest = text; rest !== "";) {
    const end = rest.length <= longest ? rest.length : pieceEnd(rest, { longest, isLast: true });
    yield rest.slice(0, end);
    rest = rest.slice(end);
  }
}

type Asking = ModerationParts & { readonly signal: AbortSignal; readonly onUse: OnUse | undefined };

/** What the configuration has against each text. Texts without a letter or a digit are not sent. */
async function findIn(texts: readonly string[], asking: Asking): Promise<readonly (readonly TextFinding[])[]> {
  const { client, name, onUse, settings, signal } = asking;
  const sent = texts.filter((text) => /[\p{L}\p{N}]/u.test(text));
  if (sent.length === 0) return texts.map(() => []);
  try {
    const { inputTokens, scores } = await client.judge(
      sent.map((text) => text.toWellFormed()),
      signal,
    );
    onUse?.({ guardrail: name, model: settings.model, inputTokens });
    const bySent = new Map(sent.map((text, index) => [text, findingsOf(scores[index]!, settings)]));
    return texts.map((text) => bySent.get(text) ?? []);
  } catch (thrown) {
    passOrThrow(toAppError(thrown), asking);
    return texts.map(() => []);
  }
}

/** The worst first. */
function findingsOf(judgments: readonly CategoryScore[], { categories }: ModerationGuardrailSettings): TextFinding[] {
  return judgments
    .toSorted((left, right) => right.score - left.score)
    .flatMap(({ category, isFlagged, score }) => {
      const wanted = Object.hasOwn(categories, category) ? categories[category] : undefined;
      if (wanted === undefined) return [];
      const counts = wanted.threshold === undefined ? isFlagged : score >= wanted.threshold;
      return counts ? [{ category, action: wanted.action }] : [];
    });
}

/** @throws AppError unless the configuration lets texts pass unchecked */
function passOrThrow(error: AppError, { logger, name, settings }: Asking): void {
  if (error.code === "client_closed") throw error;
  const failsOpen = settings.fail === "open";
  logger.warn({ guardrail: name, error, passes: failsOpen }, "a guardrail returned no verdict");
  if (failsOpen) return;
  const isBusy = error.code === "overloaded" || error.code === "rate_limited";
  throw new AppError(
    isBusy ? "overloaded" : error.code === "upstream_timeout" ? "upstream_timeout" : "upstream_failed",
    `The guardrail ${JSON.stringify(name)} returned no verdict and is configured to refuse such calls. Retry later.`,
    { cause: error, retryAfterMs: isBusy ? (error.retryAfterMs ?? defaultRetryAfterMs) : undefined },
  );
}
