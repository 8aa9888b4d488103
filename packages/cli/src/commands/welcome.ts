/** The message of a started server: its address, what can be used, the first keys, and three commands to try. */
import { styleText } from "node:util";
import type { Overview } from "@sounding/server";
import type { ServerProfile } from "../profiles/server-profile.ts";

export interface Welcome {
  readonly url: string;
  /** The secrets that the first start created. */
  readonly firstStart: FirstStart | undefined;
  /** The profile with a key of this server; undefined if there is none. */
  readonly profile: StoredProfile | undefined;
  readonly overview: Overview;
  /** The web console; undefined if the server has none. */
  readonly console: { readonly url: string; readonly signsIn: boolean } | undefined;
  /** The models that the server is adding to its data directory. */
  readonly adding: { readonly transcription: string | undefined; readonly speech: string | undefined };
  readonly dataDirectory: string;
}

type StoredProfile = Pick<ServerProfile, "name" | "file" | "kept">;

interface FirstStart {
  readonly organization: string;
  readonly key: string;
  readonly operatorKey: string | undefined;
}

interface Style {
  readonly colors: boolean;
  /** Shows a path as people write it. */
  showPath(path: string): string;
}

/** The model that always exists, for testing the pipeline. */
const trialModel = "sounding-trial";
const nameWidth = 16;
const stateWidth = 10;

export function renderWelcome(welcome: Welcome, style: Style): string {
  const { url, firstStart, profile } = welcome;
  const paint = painter(style.colors);
  const option = profile === undefined || profile.name === "default" ? "" : ` --profile ${profile.name}`;
  const commands = [
    `npx sounding chat "Hello!"${option}`,
    `npx sounding speak "Hello from Sounding." --output hello.mp3${option}`,
    `npx sounding demo${option} && npx sounding traces --project demo${option}`,
  ];
  const keys = firstStart === undefined ? laterKeys(profile) : renderFirstKeys(firstStart, profile, style);
  return [
    "",
    `  ${paint("bold", "Sounding")} is running at ${paint("cyan", url)}`,
    "",
    ...abilities(welcome, style).flatMap(({ name, state, details, advice = [] }) => [
      `  ${name.padEnd(nameWidth)}${paint(stateFormats[state], state.padEnd(stateWidth))}${details}`.trimEnd(),
      ...advice.map((line) => `  ${" ".repeat(nameWidth + stateWidth)}${paint("dim", line)}`),
    ]),
    "",
    ...(keys === "" ? [] : [keys]),
    "  Three things to try, in another terminal, from this folder:",
    "",
    ...commands.map((command) => `    ${paint("cyan", command)}`),
    "",
    ...renderConsole(welcome, `npx sounding console${option}`, paint),
    `  ${paint("dim", `API documentation: ${url}/docs`)}`,
    `  ${paint("dim", "Press Ctrl-C to stop the server.")}`,
    "",
    "",
  ].join("\n");
}

type Paint = ReturnType<typeof painter>;

function renderConsole({ console }: Welcome, command: string, paint: Paint): string[] {
  if (console === undefined) return [];
  const title = console.signsIn
    ? `  ${paint("bold", "Console")}, signed in; this link works once and for five minutes:`
    : `  ${paint("bold", "Console")}, where you sign in with an API key:`;
  const later = `  ${paint("dim", `Later: ${command}`)}`;
  return [title, `  ${paint("cyan", console.url)}`, ...(console.signsIn ? [later] : []), ""];
}

const stateFormats = { ready: "green", adding: "yellow", starting: "yellow", off: "yellow", none: "yellow" } as const;

const addChat = ["to add yours: OPENAI_API_KEY=… npm start", "or: npx sounding models pull qwen2.5-0.5b"];

const addOther = ["to add one: npx sounding models available"];

/** What one command makes better. */
const better = {
  speech: "more voices: npx sounding models available",
  transcription: "all languages: npx sounding models pull whisper-base",
};
/** Models that the server starts with. */
const firstModels: ReadonlySet<string> = new Set([
  "flite",
  "espeak-ng",
  "piper-joe",
  "pocketsphinx",
  "whisper-tiny.en",
]);

interface Ability {
  readonly name: string;
  readonly state: keyof typeof stateFormats;
  /** The models or engines. */
  readonly details: string;
  /** How to add one. */
  readonly advice?: readonly string[];
}

function abilities({ overview, adding, dataDirectory }: Welcome, { showPath }: Style): Ability[] {
  const { chat } = overview.models;
  const chatModels = chat.filter(({ id }) => id !== trialModel);
  const { ready, disabled, reason } = overview.telemetry;
  return [
    chatModels.length > 0
      ? { name: "chat", state: "ready", details: shortList(chatModels) }
      : chat.length > 0
        ? { name: "chat", state: "ready", details: `${trialModel}, a test model`, advice: addChat }
        : { name: "chat", state: "none", details: "no model", advice: addChat },
    audioAbility("speech", overview.models.speech, adding.speech),
    audioAbility("transcription", overview.models.transcription, adding.transcription),
    ready
      ? { name: "telemetry", state: "ready", details: `stored in ${showPath(dataDirectory)}` }
      : disabled === true
        ? { name: "telemetry", state: "off", details: "turned off by telemetry.enabled" }
        : { name: "telemetry", state: "starting", details: reason ?? "" },
  ];
}

function audioAbility(
  name: keyof typeof better,
  models: readonly { readonly id: string }[],
  adding: string | undefined,
): Ability {
  if (models.length > 0) {
    const details = shortList(models);
    if (adding !== undefined)
      return { name, state: "ready", details, advice: [`${adding} is added in the background`] };
    const isFirst = models.every(({ id }) => firstModels.has(id));
    return { name, state: "ready", details, ...(isFirst ? { advice: [better[name]] } : {}) };
  }
  if (adding !== undefined) return { name, state: "adding", details: `${adding}, in the background` };
  return { name, state: "none", details: name === "speech" ? "no voice" : "no model", advice: addOther };
}

const listWidth = 50;

/** As many models as fit, and the number of the others. */
function shortList(models: readonly { readonly id: string }[]): string {
  const ids = models.map(({ id }) => id);
  let shown = ids.length;
  const text = (): string => {
    const rest = ids.length - shown;
    return `${ids.slice(0, shown).join(", ")}${rest === 0 ? "" : ` and ${rest} more`}`;
  };
  while (shown > 1 && text().length > listWidth) shown -= 1;
  return text();
}

function laterKeys(profile: Welcome["profile"]): string {
  return profile === undefined
    ? "  No key of this server is stored here. Create one and store it:\n    npx sounding key create laptop --local | npx sounding login\n"
    : "";
}

/** The keys, which nothing shows again. */
export function renderFirstKeys(
  { key, operatorKey }: FirstStart,
  profile: StoredProfile | undefined,
  { colors, showPath }: Style,
): string {
  const { file, kept } = profile ?? {};
  const paint = painter(colors);
  const row = (name: string, value: string): string => `  ${name.padEnd(nameWidth)}${value}\n`;
  const note =
    file === undefined ? "Shown only once; store them safely." : `Shown only once, and stored in ${showPath(file)}.`;
  return [
    row("API key", paint("bold", key)),
    operatorKey === undefined ? "" : row("operator key", operatorKey),
    `  ${paint("dim", note)}\n`,
    kept === undefined
      ? ""
      : `  ${paint("dim", `The keys stored before for this address are in the profile ${kept}.`)}\n`,
  ].join("");
}

function painter(colors: boolean): (format: Parameters<typeof styleText>[0], text: string) => string {
  return (format, text) => (colors ? styleText(format, text, { validateStream: false }) : text);
}
