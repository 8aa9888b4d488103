/** What is wrong in a configuration, where, and in words that let a person mend it. */
export type SettingPath = readonly (string | number)[];

export interface ConfigProblem {
  /** The file, for a problem in the file. */
  readonly file?: string | undefined;
  /** Counted from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The setting as a person would write it, such as `models["gpt-4.1"].targets[0].engine`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** One problem as one line: `sounding.yaml:3:9: server.port is 70000; allowed: …` */
export function formatProblem(problem: ConfigProblem): string {
  const place =
    problem.file === undefined
      ? ""
      : problem.line === undefined
        ? `${problem.file}: `
        : `${problem.file}:${problem.line}:${problem.column ?? 1}: `;
  return place + problem.message;
}

export function formatPath(path: SettingPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[\w-]+$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

const longestShownValue = 120;

/** A value for a message, cut when it is long. */
export function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > longestShownValue ? `${text.slice(0, longestShownValue)}…` : text;
}

/** Items as "a, b or c". */
export function formatChoice(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} or ${items.at(-1)}`;
}
