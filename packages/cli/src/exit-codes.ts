/** Exit codes of the command `sounding`; the table in docs/cli/README.md is generated from `exitCodeMeanings`. */

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  denied: 4,
  notFound: 5,
  tryLater: 6,
  timeout: 7,
  configuration: 8,
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What each code means, for the help and the documentation. */
export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "It worked.",
  failed: "It failed, and no other code says more.",
  usage: "The command line is wrong: an unknown command or option, a missing or bad value.",
  unreachable: "The server could not be reached, or the connection broke.",
  denied: "No key, a wrong key, or a key that may not do this.",
  notFound: "What was named does not exist.",
  tryLater: "Too many requests, or no capacity: try again later.",
  timeout: "A time limit ran out.",
  configuration: "The configuration is invalid.",
  interrupted: "Interrupted with Ctrl-C (SIGINT).",
  brokenPipe: "The reader of the output went away (SIGPIPE).",
  terminated: "Terminated (SIGTERM).",
};
