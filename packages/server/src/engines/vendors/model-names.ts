/** Says by its name whether a model embeds; all vendors have the word in the names of those models. */
export function isEmbeddingName(model: string): boolean {
  return /embed/i.test(model);
}
