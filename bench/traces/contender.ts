/** What is measured: a server that takes spans and answers Tempo's requests. */
export interface Contender {
  readonly name: string;
  /** Sends one OTLP request of spans, again while the server is too busy. @throws if it is refused */
  send(body: Buffer): Promise<void>;
  /** The response to a path of Tempo's API, as text. @throws unless it is 200 */
  ask(path: string): Promise<string>;
  /** CPU time so far, in microseconds. */
  cpuMicros(): number;
  /** Resolves when no more work is left over from what was sent. */
  untilQuiet(): Promise<void>;
  /** Ends its processes and removes its files. */
  end(): Promise<void>;
}
