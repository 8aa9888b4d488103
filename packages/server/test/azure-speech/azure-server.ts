/**
 * A server with Azure Speech's protocols: the list of voices, the WebSocket for synthesis (each word lasts 1 000 samples
 * per character), and any other behavior that a test scripts.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { Value } from "typebox/value";
import { azureSpeechEngine, type AzureSpeechSettings } from "../../src/config/engines/azure-speech.ts";
import { silentLogger, type Logger } from "../../src/logger.ts";
import { createAzureSpeechEngine } from "../../src/engines/azure-speech/engine.ts";
import { ServerSocket } from "../support/websocket-server.ts";

export const azureKey = "azure-speech-key";
export const samplesPerCharacter = 1_000;

/** The texts that the server was asked to speak. */
export interface Turn {
  readonly requestId: string;
  readonly ssml: string;
  readonly context: SynthesisContext | undefined;
}

interface SynthesisContext {
  readonly synthesis: {
    readonly audio: { readonly outputFormat: string; readonly metadataOptions: Record<string, boolean> };
  };
}

export interface AzureScript {
  /** Absent: the socket is accepted if the key is right. */
  connect?(socket: ServerSocket): void;
  /** Absent: the text is spoken. */
  turn?(turn: Turn, socket: ServerSocket): void;
  /** Absent: the voices are listed if the key is right. */
  voiceList?(response: ServerResponse): void;
  /** HTTP requests other than for voices. */
  http?(request: IncomingMessage, response: ServerResponse): void;
}

export const voices = [
  { ShortName: "af-ZA-AdriNeural", Locale: "af-ZA", Gender: "Female", DisplayName: "Adri", Status: "GA" },
  { ShortName: "de-DE-KatjaNeural", Locale: "de-DE", Gender: "Female", DisplayName: "Katja", Status: "GA" },
  {
    ShortName: "en-US-AvaMultilingualNeural",
    Locale: "en-US",
    Gender: "Female",
    DisplayName: "Ava Multilingual",
    SecondaryLocaleList: ["fr-FR", "de-DE"],
    Status: "GA",
  },
  { ShortName: "en-US-GuyNeural", Locale: "en-US", Gender: "Male", DisplayName: "Guy", Status: "GA" },
  { ShortName: "en-US-OldNeural", Locale: "en-US", Gender: "Male", DisplayName: "Old", Status: "Deprecated" },
];

export async function startAzure(
  script: AzureScript = {},
  settings: Partial<AzureSpeechSettings> = {},
  logger: Logger = silentLogger,
) {
  const sockets: ServerSocket[] = [];
  const turns: Turn[] = [];
  const faults: unknown[] = [];
  const counts = { voiceLists: 0 };
  const server = createServer((request, response) => {
    if (request.url === "/tts/cognitiveservices/voices/list") {
      counts.voiceLists++;
      if (script.voiceList !== undefined) return script.voiceList(response);
      const isKnown = request.headers["ocp-apim-subscription-key"] === azureKey;
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
      response.end(isKnown ? JSON.stringify(voices) : "");
    } else if (script.http === undefined) response.writeHead(404).end();
    else script.http(request, response);
  });
  server.on("upgrade", (request: IncomingMessage, duplex: Duplex) => {
    let context: SynthesisContext | undefined;
    const onText = (text: string, socket: ServerSocket): void => {
      try {
        const { path, requestId, body } = parseMessage(text);
        if (path === "synthesis.context") context = JSON.parse(body) as SynthesisContext;
        if (path !== "ssml") return;
        const turn = { requestId, ssml: body, context };
        turns.push(turn);
        (script.turn ?? speak)(turn, socket);
      } catch (error) {
        faults.push(error);
        socket.cut();
      }
    };
    const socket = new ServerSocket(request, duplex, onText);
    sockets.push(socket);
    if (script.connect !== undefined) script.connect(socket);
    else if (request.headers["ocp-apim-subscription-key"] === azureKey) socket.accept();
    else socket.refuse(401);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const defaults = { type: "azure_speech", base_url: url, api_key: azureKey, ...settings };
  const complete = Value.Parse(azureSpeechEngine, Value.Default(azureSpeechEngine, defaults));
  const engine = createAzureSpeechEngine("azure", complete, { logger });
  return {
    engine,
    sockets,
    turns,
    counts,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.cut();
      server.close();
      server.closeAllConnections();
      await engine.close();
      assert.deepEqual(faults, [], "a script failed");
    },
  };
}

function parseMessage(text: string): { path: string; requestId: string; body: string } {
  const end = text.indexOf("\r\n\r\n");
  const headers = text.slice(0, end);
  const header = (name: string): string => new RegExp(`^${name}: (.*)$`, "im").exec(headers)?.[1]?.trim() ?? "";
  return { path: header("Path"), requestId: header("X-RequestId"), body: text.slice(end + 4) };
}

/** The text of the markup as the service interprets it. */
export function textOf(ssml: string): string {
  return ssml
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}

export function speak(turn: Turn, socket: ServerSocket): void {
  sendText(socket, turn, "turn.start", { context: { serviceTag: "tag" } });
  sendText(socket, turn, "response", { context: { serviceTag: "tag" }, audio: { type: "inline", streamId: "1" } });
  let sample = 0;
  for (const { 0: word } of textOf(turn.ssml).matchAll(/[\p{L}\p{N}$€]\S*[\p{L}\p{N}]\p{M}*|[\p{L}\p{N}]\p{M}*/gu)) {
    const count = word.length * samplesPerCharacter;
    const ticks = 10_000_000 / 24_000;
    const text = { Text: word, Length: word.length, BoundaryType: "WordBoundary" };
    const Data = { Offset: Math.round(sample * ticks), Duration: Math.round(count * ticks), text };
    sendText(socket, turn, "audio.metadata", { Metadata: [{ Type: "WordBoundary", Data }] });
    const pcm = Buffer.alloc(2 * count);
    for (let index = 0; index < count; index++) pcm.writeInt16LE(Math.round(8_000 * Math.sin(index / 20)), 2 * index);
    sendAudio(socket, turn, pcm);
    sample += count;
  }
  sendText(socket, turn, "audio.metadata", { Metadata: [{ Type: "SessionEnd", Data: { Offset: sample } }] });
  sendText(socket, turn, "turn.end", {});
}

export function sendText(socket: ServerSocket, { requestId }: Turn, path: string, body: unknown): void {
  const json = typeof body === "string" ? body : JSON.stringify(body);
  socket.sendText(
    `X-RequestId:${requestId}\r\nContent-Type:application/json; charset=utf-8\r\nPath:${path}\r\n\r\n${json}`,
  );
}

export function sendAudio(socket: ServerSocket, { requestId }: Turn, pcm: Buffer): void {
  const headers = Buffer.from(`X-RequestId:${requestId}\r\nX-StreamId:1\r\nPath:audio\r\n`);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(headers.length);
  socket.sendBytes(Buffer.concat([length, headers, pcm]));
}
