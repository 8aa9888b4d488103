/** Reads a response while it arrives: JSON lines, or 16-bit samples. */

export async function* readLines(response: Response): AsyncGenerator<unknown, void, undefined> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line);
  }
  if (rest.trim() !== "") yield JSON.parse(rest);
}

export async function* readSamples(response: Response): AsyncGenerator<Int16Array, void, undefined> {
  const reader = response.body!.getReader();
  let rest = new Uint8Array(0);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const bytes = new Uint8Array(rest.length + value.length);
    bytes.set(rest);
    bytes.set(value, rest.length);
    // A piece may end within a sample.
    const count = bytes.length >> 1;
    rest = bytes.slice(2 * count);
    if (count > 0) yield new Int16Array(bytes.buffer, 0, count);
  }
}
