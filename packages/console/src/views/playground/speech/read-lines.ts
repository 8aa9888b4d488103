/** Reads the JSON lines of a response while they arrive. */

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
