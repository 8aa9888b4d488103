/** Reads server-sent events from text that arrives in pieces: the `data` of each event. */

export class EventText {
  #rest = "";

  /** @returns the data of the events that are complete now */
  push(text: string): string[] {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop()!;
    return blocks.flatMap((block) => {
      const lines = block.split("\n").filter((line) => line.startsWith("data:"));
      return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")];
    });
  }
}
