/** Checks the vectors that an engine sent. */
import { AppError } from "../../errors.ts";

/** @throws AppError upstream_failed for anything but `count` vectors of one length, whose components are numbers */
export function requireVectors(vectors: readonly Float32Array[], count: number): void {
  if (vectors.length !== count) throw invalidEmbeddings(`it has ${vectors.length} embeddings for ${count} inputs`);
  const length = vectors[0]?.length ?? 0;
  if (length === 0 || vectors.some((vector) => vector.length !== length))
    throw invalidEmbeddings("its vectors are empty or differ in length");
  if (!vectors.every((vector) => vector.every(Number.isFinite)))
    throw invalidEmbeddings("a vector has a component that is no number");
}

export function invalidEmbeddings(problem: string): AppError {
  return new AppError("upstream_failed", `The engine sent invalid embeddings: ${problem}.`);
}
