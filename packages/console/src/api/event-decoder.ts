/** Decodes server-sent events from bytes in pieces of any size. Types and IDs of events are not used by our API. */

export interface EventDecoder {
  /** The data of the events that these bytes complete. */
  push(bytes: Uint8Array): string[];
}

export function createEventDecoder(): EventDecoder {
  // Drops a byte order mark and keeps the start of an incomplete character.
  const decoder = new TextDecoder();
  let unfinished = "";
  // The last piece ended in CR: an LF at the start of the next belongs to it.
  let afterReturn = false;
  let data: string[] = [];
  return {
    push(bytes) {
      let text = decoder.decode(bytes, { stream: true });
      if (text === "") return [];
      if (afterReturn && text.startsWith("\n")) text = text.slice(1);
      afterReturn = text.endsWith("\r");
      const lines = text.split(/\r\n|\r|\n/);
      lines[0] = unfinished + lines[0]!;
      unfinished = lines.pop()!;
      const events: string[] = [];
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) events.push(data.join("\n"));
          data = [];
        } else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
        else if (line === "data") data.push("");
      }
      return events;
    },
  };
}
