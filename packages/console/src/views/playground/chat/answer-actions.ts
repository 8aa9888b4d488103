/** Defines what can be done with an answer. */

export interface AnswerActions {
  /** Whether something is running, so that nothing else can be sent. */
  readonly busy: boolean;
  /** Whether this is the column's last answer. */
  readonly last: boolean;
  regenerate(): void;
  sendResults(results: Readonly<Record<string, string>>): void;
}
