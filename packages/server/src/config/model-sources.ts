/** How the server reaches model hubs and package registries, from the environment variables that their own programs read. */
import type { ProxySettings } from "../network/proxies.ts";

export interface ModelSources {
  readonly hubEndpoint: string | undefined;
  readonly hubToken: string | undefined;
  readonly proxies: ProxySettings;
  /** For pip and npm. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What pip and npm read, and where they find their programs and files; not the API keys and settings of the server. */
const clientNames =
  /^(?:path|home|userprofile|appdata|localappdata|systemroot|comspec|pathext|lang|lc_all|xdg_config_\w+|virtual_env|netrc|pip_\w+|npm_config_.+|\w+_proxy|ssl_cert_(?:file|dir)|requests_ca_bundle|curl_ca_bundle|node_extra_ca_certs)$/i;

export function modelSources(): ModelSources {
  const { env } = process;
  const variable = (...names: readonly string[]): string | undefined => names.map((name) => env[name]).find(Boolean);
  const environment = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && clientNames.test(entry[0]),
  );
  return {
    hubEndpoint: variable("HF_ENDPOINT"),
    hubToken: variable("HF_TOKEN"),
    proxies: {
      http: variable("http_proxy", "HTTP_PROXY"),
      https: variable("HTTPS_PROXY", "https_proxy"),
      except: variable("NO_PROXY", "no_proxy"),
    },
    environment: Object.fromEntries(environment),
  };
}
