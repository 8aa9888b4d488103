/** A template that is invalid, or that fails for an entry. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem";
}
