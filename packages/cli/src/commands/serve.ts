/** `sounding serve`: runs the server until Ctrl-C or SIGTERM, and prints at startup how to use it. */
import { CliError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeJson } from "../output.ts";
import { UsageError } from "../cli-error.ts";
import { renderFirstKeys, renderWelcome, type Welcome } from "./welcome.ts";

export const serveCommand = command({
  name: "serve",
  summary: "Run the server",
  description:
    "Runs until Ctrl-C or SIGTERM, then waits for running calls to finish. SIGHUP, or a change of the configuration file, reloads models and limits. The log is written to standard error, one JSON object per line.",
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
    let untold: Welcome["firstStart"];
    try {
      await serve({
        configPath: values.config,
        overrides: { server, storage },
        signal: io.signal,
        onFirstStart: (made) => (untold = made),
        // Programs find it in the log.
        onNotice: (notice) => void (json ? undefined : write(io.stdout, `${notice}\n`)),
        onReady: ({ host, port, firstStart }) => {
          const url = `http://${reachable(host)}:${port}`;
          untold = undefined;
          void welcome(io, { url, firstStart }, json);
        },
      });
    } catch (error) {
      // The keys are in the database now, and the next start cannot print them.
      if (untold !== undefined)
        await (json ? writeJson(io.stdout, { firstStart: untold }) : write(io.stdout, renderFirstKeys(untold)));
      if (!(error instanceof InvalidConfigError)) throw error;
      await write(io.stderr, `${error.problems.join("\n")}\n`);
      throw new CliError(error.message, exitCodes.configuration, { cause: error });
    }
    return exitCodes.ok;
  },
});

async function welcome(io: CommandIo, facts: Welcome, json: boolean): Promise<void> {
  await (json ? writeJson(io.stdout, facts) : write(io.stdout, renderWelcome(facts)));
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new UsageError(`--port is ${JSON.stringify(text)}; it must be 0 to 65535.`);
  return port;
}

/** An address that a client on this machine can call. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
