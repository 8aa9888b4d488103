/** A problem in the configuration: the setting, its position, and a message that helps to fix it. */
export type SettingPath = readonly (string | number)[];

export interface ConfigProblem {
  /** Set for a problem in the file. */
  readonly file?: string | undefined;
  /** Starts at 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The setting as a person writes it, such as `models["gpt-4.1"].targets[0].engine`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** A problem on one line: `sounding.yaml:3:9: server.port is 70000; it must be …` */
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

/** A value for a message, truncated if it is long. */
export function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > longestShownValue ? `${text.slice(0, longestShownValue)}…` : text;
}

/** Items as "a, b or c". */
export function formatChoice(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} or ${items.at(-1)}`;
}
