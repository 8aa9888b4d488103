/** Proxies of requests that are not for the server, from the environment variables that most programs read. */
import type { ProxySettings } from "@sounding/server";
import type { CommandIo } from "./command.ts";

export function proxiesOf({ env }: CommandIo): ProxySettings {
  const variable = (name: string): string | undefined => env[name] || undefined;
  return {
    http: variable("http_proxy") ?? variable("HTTP_PROXY"),
    https: variable("HTTPS_PROXY") ?? variable("https_proxy"),
    except: variable("NO_PROXY") ?? variable("no_proxy"),
  };
}
