/**
 * Replaces environment variables inside the strings of the configuration file: `${NAME}`, `${NAME:-default}`, and `$${`
 * for a literal `${`. The rules are those of a shell and of Compose:
 * https://docs.docker.com/reference/compose-file/interpolation/
 */

export type Environment = Readonly<Record<string, string | undefined>>;

interface Interpolated {
  readonly text: string;
  /** The problems, one sentence each. */
  readonly faults: readonly string[];
}

const reference = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g;

export function interpolate(text: string, env: Environment): Interpolated {
  const faults: string[] = [];
  const result = text.replace(reference, (match: string, name: string | undefined, fallback: string | undefined) => {
    if (match === "$${") return "${";
    if (name === undefined) {
      faults.push(
        "has a `${` that is not followed by a variable name; write `${NAME}`, `${NAME:-default}`, or `$${` for a literal `${`",
      );
      return match;
    }
    const value = env[name];
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    faults.push(`uses the environment variable ${name}, which is not set; set it, or write \`\${${name}:-default}\``);
    return "";
  });
  return { text: result, faults };
}
