/** The operations that serve the web console's page and files. None requires a key: the page signs in by itself. */
import { operation } from "./operation.ts";

export const getRoot = operation({
  id: "getRoot",
  method: "GET",
  path: "/",
  tag: "Console",
  summary: "Redirect to the web console",
  permission: "none",
  answer: { status: 307, type: "text/html", description: "The console is at `/console/`." },
});

export const getConsole = operation({
  id: "getConsole",
  method: "GET",
  path: "/console",
  tag: "Console",
  summary: "Redirect to the web console",
  permission: "none",
  answer: { status: 307, type: "text/html", description: "The console is at `/console/`." },
});

export const getConsoleFile = operation({
  id: "getConsoleFile",
  method: "GET",
  path: "/console/{+path}",
  tag: "Console",
  summary: "Show the web console: its page at every address, and its scripts and styles",
  permission: "none",
  pathParameters: { path: "A view of the console, such as `traces`, or a file under `assets/`." },
  answer: { type: "text/html", description: "The page or the file." },
});
