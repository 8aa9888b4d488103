/**
 * Reads names that Prometheus' clients escape where a path cannot have every character: `host.name` as `U__host_2e_name`.
 * https://prometheus.io/docs/specs/escaping_schemes/#value-encoding-escaping-prefix-u__
 */
const prefix = "U__";
const escaped = /^(?:[^_]|__|_[\da-f]{1,6}_)*$/i;
const largestCodePoint = 0x10_ffff;

/** The name itself if it is not escaped correctly. */
export function unescapeName(name: string): string {
  const rest = name.slice(prefix.length);
  if (!name.startsWith(prefix) || !escaped.test(rest)) return name;
  const codes = [...rest.matchAll(/_([\da-f]*)_/gi)].map(([, digits]) => Number.parseInt(digits || "5f", 16));
  if (codes.some((code) => code > largestCodePoint || (code >= 0xd800 && code <= 0xdfff))) return name;
  return rest.replaceAll(/_([\da-f]*)_/gi, (_, digits: string) =>
    digits === "" ? "_" : String.fromCodePoint(Number.parseInt(digits, 16)),
  );
}
