/** `sounding console`: opens the web console in a browser, signed in, or prints a link that signs in. */
import { CliError } from "../cli-error.ts";
import { command } from "../command.ts";
import { defaultUrl, findConnection, serverOptions } from "../connection.ts";
import { createConsoleLink } from "../console-link.ts";
import { exitCodes } from "../exit-codes.ts";
import { openBrowser, whyNoBrowser } from "../open-browser.ts";
import { oneLine, writeJson, writeLine } from "../output.ts";

export const consoleCommand = command({
  name: "console",
  summary: "Open the web console, signed in",
  description:
    "Opens the server's web console in your browser with a link that signs in. The link works once and for five minutes. Over SSH, without a display, with --no-browser and with --json, the link is printed instead. The console gets the permissions of the API key and, for administration, of the operator key.",
  options: {
    ...serverOptions,
    browser: { type: "boolean", default: true, description: "Only print the link." },
  },
  examples: [
    ["sounding console", "Open the console of the server on this machine."],
    ["sounding console --no-browser --profile work", "Print a link to another server's console."],
  ],
  async run({ values, json, io }) {
    const connection = await findConnection(values, io);
    const url = connection.url?.value ?? defaultUrl;
    const key = connection.apiKey?.value ?? connection.operatorKey?.value;
    if (key === undefined) {
      throw new CliError(
        `no API key for ${url}: run \`sounding login\`, set SOUNDING_API_KEY, or use --key-file FILE`,
        exitCodes.denied,
      );
    }
    if (connection.isPerson) {
      const page = `${url}/console/`;
      if (json) await writeJson(io.stdout, { url: page, expires_at: null });
      else await writeLine(io.stdout, `Open this page in a browser, and sign in there:\n\n  ${page}`);
      if (!json && values.browser && whyNoBrowser(io.env) === undefined) await openBrowser(page, io.env);
      return exitCodes.ok;
    }
    const link = await createConsoleLink({ url, key, operatorKey: connection.operatorKey?.value }, io.signal);
    if (link.operatorKeyProblem !== undefined)
      await writeLine(io.stderr, oneLine(`sounding: signing in without the operator key: ${link.operatorKeyProblem}`));
    if (json) {
      await writeJson(io.stdout, { url: link.url, expires_at: link.expires_at });
      return exitCodes.ok;
    }
    const reason = values.browser ? whyNoBrowser(io.env) : undefined;
    const isOpen = values.browser && reason === undefined && (await openBrowser(link.url, io.env));
    await writeLine(
      io.stdout,
      isOpen ? "The console opens in your browser. If it does not, open this link:" : "Open this link in a browser:",
    );
    await writeLine(io.stdout, `\n  ${link.url}\n\nIt works once, within five minutes.`);
    const { hostname, port } = new URL(url);
    if (reason === "ssh" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname))
      await writeLine(
        io.stdout,
        `The address is this machine's. To open it from yours, forward the port: ssh -L ${port}:127.0.0.1:${port} HOST`,
      );
    return exitCodes.ok;
  },
});
