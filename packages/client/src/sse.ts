/**
 * Decodes server-sent events from bytes in pieces of any size. https://html.spec.whatwg.org/multipage/server-sent-events.html
 * A line ends in CR LF, LF or CR. An event is complete at its blank line.
 */
import { InvalidAnswerError } from "./errors.ts";

export interface ServerSentEvent {
  /** The event's type; `message` if the server sends none. */
  readonly event: string;
  /** The `data` lines, joined by line feeds. */
  readonly data: string;
}

/** Maximum length of one event in characters. */
const longestEvent = 64 * 1024 * 1024;

export interface SseDecoder {
  /** The events that these bytes complete. Throws InvalidAnswerError for an event of more than 64 Mi characters. */
  push(bytes: Uint8Array): ServerSentEvent[];
}

export function createSseDecoder(): SseDecoder {
  // Drops a byte order mark and keeps the start of an incomplete character.
  const decoder = new TextDecoder();
  let unfinishedLine = "";
  // The last piece ended in CR: an LF at the start of the next belongs to it.
  let afterReturn = false;
  let event = "";
  let data: string | undefined;

  function push(bytes: Uint8Array): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    const text = decoder.decode(bytes, { stream: true });
    let start = afterReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") afterReturn = false;
    const lineEnd = /\r\n|\r|\n/g;
    lineEnd.lastIndex = start;
    for (let match = lineEnd.exec(text); match !== null; match = lineEnd.exec(text)) {
      const line = unfinishedLine + text.slice(start, match.index);
      unfinishedLine = "";
      start = lineEnd.lastIndex;
      afterReturn = match[0] === "\r" && start === text.length;
      if (line === "") dispatch(events);
      else takeField(line);
    }
    unfinishedLine += text.slice(start);
    if (unfinishedLine.length + (data?.length ?? 0) > longestEvent) {
      throw new InvalidAnswerError(`An event of the stream is longer than ${longestEvent} characters.`);
    }
    return events;
  }

  function dispatch(events: ServerSentEvent[]): void {
    if (data !== undefined) events.push({ event: event === "" ? "message" : event, data });
    event = "";
    data = undefined;
  }

  function takeField(line: string): void {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") event = value;
    if (field === "data") data = data === undefined ? value : `${data}\n${value}`;
  }

  return { push };
}
