/** The environment in which apt runs: without API keys and the server's settings. */

/** What apt reads, and where it finds the programs that it starts. */
const names = new Set([
  "PATH",
  "HOME",
  "TMPDIR",
  "APT_CONFIG",
  "http_proxy",
  "https_proxy",
  "ftp_proxy",
  "all_proxy",
  "no_proxy",
]);

export function packageManagerEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => names.has(name));
  // The output is searched for problems, which are in English then.
  return { ...(Object.fromEntries(inherited) as Record<string, string>), LC_ALL: "C" };
}
