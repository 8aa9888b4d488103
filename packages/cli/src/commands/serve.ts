/** `sounding serve`: runs the server until Ctrl-C or SIGTERM, and prints at startup how to use it. */
import type { Addition, App } from "@sounding/server";
import { CliError, errorLine, UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { createConsoleLink } from "../console-link.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeJson, writeLine } from "../output.ts";
import { profileFile, showPath } from "../profiles/profile-file.ts";
import { findServerProfile, storeFirstKeys, type ServerProfile } from "../profiles/server-profile.ts";
import { renderFirstKeys, renderWelcome, type Welcome } from "./welcome.ts";

export const serveCommand = command({
  name: "serve",
  summary: "Run the server",
  description:
    "Runs until Ctrl-C or SIGTERM, then waits for running calls to finish. SIGHUP, or a change of the configuration file, reloads models and limits. The log is written to standard error: in a terminal one short line for each event, otherwise one JSON object per line (`server.log_format`). The first start stores its keys in a profile for the other commands.",
  options: {
    config: { type: "string", value: "FILE", short: "c", description: "Configuration file; sounding.yaml by default." },
    host: { type: "string", value: "ADDRESS", description: "Address to listen on." },
    port: { type: "string", value: "PORT", short: "p", description: "Port to listen on; 0 lets the system choose." },
    "data-dir": { type: "string", value: "FOLDER", description: "Folder for the server's files." },
  },
  examples: [
    ["sounding serve", "With sounding.yaml in this folder, or with all defaults."],
    ["sounding serve --config /etc/sounding.yaml --port 8080", "With another file and port."],
  ],
  async run({ values, io, json }) {
    const { serve, InvalidConfigError } = await import("@sounding/server");
    const server = {
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(values.port === undefined ? {} : { port: parsePort(values.port) }),
    };
    const storage = values["data-dir"] === undefined ? {} : { data_dir: values["data-dir"] };
    const style = { colors: io.colors.stdout, showPath: (path: string) => showPath(path, io.env) };
    let unshown: FirstKeys | undefined;
    const additions: Additions = new Map();
    let greeting: Promise<void> | undefined;
    // The terminal has just shown ^C.
    io.signal.addEventListener("abort", () => void (io.isTTY.stdin && io.isTTY.stderr && write(io.stderr, "\n")));
    try {
      await serve({
        configPath: values.config,
        overrides: { server, storage },
        signal: io.signal,
        terminal: {
          isTerminal: io.isTTY.stderr,
          stream: io.stderr,
          style: { colors: io.colors.stderr, columns: () => (io.stderr as { columns?: number }).columns },
        },
        onFirstStart: async (created, url) => {
          unshown = { ...created, profile: await tryToStore(created, url, io) };
        },
        onAddition: (addition) => void additions.set(addition.capability, addition),
        onReady: (app, config) => {
          const firstStart = unshown;
          unshown = undefined;
          greeting = greet({ app, firstStart, dataDirectory: config.storage.data_dir, additions }, io, json);
        },
      });
    } catch (error) {
      if (!(error instanceof InvalidConfigError)) throw error;
      await write(io.stderr, `${error.problems.join("\n")}\n`);
      throw new CliError(error.message, exitCodes.configuration, { cause: error });
    } finally {
      await greeting;
      // After a failure or Ctrl-C: the keys are in the database now, and the next start cannot show them.
      if (unshown !== undefined) {
        const { profile, ...firstStart } = unshown;
        const text = renderFirstKeys(firstStart, profile, style);
        await (json ? writeJson(io.stdout, { firstStart }) : write(io.stdout, text));
      }
    }
    return exitCodes.ok;
  },
});

type FirstStart = NonNullable<Welcome["firstStart"]>;

interface FirstKeys extends FirstStart {
  readonly profile: ServerProfile | undefined;
}

/** A profile is a convenience: without one, the keys are still shown. */
async function tryToStore(created: FirstStart, url: string, io: CommandIo): Promise<ServerProfile | undefined> {
  try {
    return profileFile(io.env) === undefined ? undefined : await storeFirstKeys(io.env, url, created);
  } catch (error) {
    await writeLine(io.stderr, `sounding: the keys are not stored for the command sounding: ${errorLine(error)}`);
    return undefined;
  }
}

interface Started {
  readonly app: App;
  readonly firstStart: FirstKeys | undefined;
  readonly dataDirectory: string;
  /** What the server has begun to add. */
  readonly additions: Additions;
}

type Additions = Map<Addition["capability"], Addition>;

/** The model that is being added. */
function addingFor(additions: Additions, capability: Addition["capability"]): string | undefined {
  const addition = additions.get(capability);
  return addition?.state === "adding" ? addition.model : undefined;
}

/** How long the welcome waits for the telemetry store, which usually starts within two seconds. */
const telemetryTimeoutMs = 5_000;
const linkTimeoutMs = 3_000;

async function greet(
  { app, firstStart, dataDirectory, additions }: Started,
  io: CommandIo,
  json: boolean,
): Promise<void> {
  const { url } = app;
  const waiting = AbortSignal.any([io.signal, AbortSignal.timeout(telemetryTimeoutMs)]);
  if ((await app.overview()).telemetry.disabled !== true) await app.whenTelemetryReady(waiting).catch(() => {});
  const stored = firstStart === undefined ? findServerProfile(io.env, url).catch(() => undefined) : firstStart.profile;
  const profile = await stored;
  if (io.signal.aborted && firstStart === undefined) return;
  const welcome = {
    url,
    console: await consoleOf(app, firstStart ?? profile?.profile, io.signal),
    firstStart,
    profile,
    overview: await app.overview(),
    adding: { transcription: addingFor(additions, "transcription"), speech: addingFor(additions, "speech") },
    dataDirectory,
  };
  const style = { colors: io.colors.stdout, showPath: (path: string) => showPath(path, io.env) };
  if (json) {
    await writeJson(io.stdout, {
      url,
      firstStart: firstStart && { ...firstStart, profile: undefined },
      profile: profile?.name,
      console: welcome.console?.url,
    });
  } else await write(io.stdout, renderWelcome(welcome, style));
}

/** The console's address, with a code that signs in if a key is known here; undefined if the server has no console. */
async function consoleOf(
  app: App,
  keys:
    | { readonly key?: string; readonly apiKey?: string | undefined; readonly operatorKey?: string | undefined }
    | undefined,
  signal: AbortSignal,
): Promise<Welcome["console"]> {
  if (!(await app.prepareConsole())) return undefined;
  const key = keys?.key ?? keys?.apiKey ?? keys?.operatorKey;
  const plain = { url: `${app.url}/console/`, signsIn: false };
  if (key === undefined) return plain;
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(linkTimeoutMs)]);
  return createConsoleLink({ url: app.url, key, operatorKey: keys?.operatorKey }, waiting).then(
    (link) => ({ url: link.url, signsIn: true }),
    () => plain,
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new UsageError(`--port is ${JSON.stringify(text)}; it must be 0 to 65535.`);
  return port;
}
