/** Counts the word errors of a transcription: substitutions, deletions and insertions of the best alignment. */

export interface AlignedWord {
  readonly reference: number;
  readonly heard: number;
}

export interface WordErrors {
  readonly errors: number;
  /** Number of words in the reference. */
  readonly words: number;
  /** Positions of matching words. */
  readonly alike: readonly AlignedWord[];
}

/** Normalizes text to what is heard, not how it is written: lower case, no punctuation, titles and the ten of a recording spelled out. */
export function toWords(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z0-9']+/g) ?? [];
  return words.map((word) => spelledOut.get(word) ?? word);
}

const spelledOut = new Map([
  ["mr", "mister"],
  ["mrs", "missus"],
  ["dr", "doctor"],
  ["10", "ten"],
]);

/** Levenshtein distance over words, with the alignment. */
export function countErrors(reference: readonly string[], heard: readonly string[]): WordErrors {
  const distances = Array.from({ length: reference.length + 1 }, (_, row) =>
    Array.from({ length: heard.length + 1 }, (_, column) => (row === 0 ? column : row)),
  );
  const at = (row: number, column: number): number => distances[row]![column]!;
  const cost = (row: number, column: number): number => (reference[row - 1] === heard[column - 1] ? 0 : 1);
  for (let row = 1; row <= reference.length; row++) {
    for (let column = 1; column <= heard.length; column++) {
      const substituted = at(row - 1, column - 1) + cost(row, column);
      distances[row]![column] = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, substituted);
    }
  }
  const alike: AlignedWord[] = [];
  let [row, column] = [reference.length, heard.length];
  while (row > 0 && column > 0) {
    if (at(row, column) === at(row - 1, column - 1) + cost(row, column)) {
      row--;
      column--;
      if (reference[row] === heard[column]) alike.unshift({ reference: row, heard: column });
    } else if (at(row, column) === at(row - 1, column) + 1) row--;
    else column--;
  }
  return { errors: at(reference.length, heard.length), words: reference.length, alike };
}
