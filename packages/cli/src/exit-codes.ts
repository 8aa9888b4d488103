/** Exit codes of the `sounding` command; the table in docs/cli/README.md is generated from `exitCodeMeanings`. */

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
  ok: "Success.",
  failed: "Failure that no other code describes.",
  usage: "The command line is invalid: an unknown command or option, or a missing or invalid value.",
  unreachable: "The server could not be reached, or the connection failed.",
  denied: "The API key is missing, invalid or lacks a permission.",
  notFound: "The requested object does not exist.",
  tryLater: "Too many requests, or no capacity; retry later.",
  timeout: "A timeout elapsed.",
  configuration: "The configuration is invalid.",
  interrupted: "Interrupted with Ctrl-C (SIGINT).",
  brokenPipe: "The reader of the output closed the pipe (SIGPIPE).",
  terminated: "Terminated (SIGTERM).",
};
