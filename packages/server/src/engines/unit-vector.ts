/** Scales vectors, so that their products are cosine similarities. */

/** Scales a vector to length 1; a vector of zeros stays. */
export function scaleToLengthOne(vector: Float32Array): void {
  let squares = 0;
  for (const component of vector) squares += component ** 2;
  const length = Math.sqrt(squares);
  if (length > 0) for (const [index, component] of vector.entries()) vector[index] = component / length;
}
