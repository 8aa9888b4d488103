/** Settings of S3-compatible storage: from the environment variables that AWS's own tools read, and from options. */
import { AppError } from "../errors.ts";
import type { ProxySettings } from "../network/proxies.ts";

export interface S3Settings {
  readonly region: string;
  /** Scheme, host and perhaps a path, without a slash at the end; undefined: AWS. */
  readonly endpoint: string | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly proxies: ProxySettings | undefined;
}

export interface S3Options {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Overrides the environment's endpoint. */
  readonly endpoint?: string | undefined;
  readonly proxies?: ProxySettings | undefined;
}

/** @throws AppError invalid_request that names the variable; the message has no value of it */
export function readS3Settings({ endpoint: option, env, proxies }: S3Options): S3Settings {
  const variable = (name: string): string | undefined => env[name]?.trim() || undefined;
  const required = (name: string): string => {
    const value = variable(name);
    if (value === undefined)
      throw new AppError("invalid_request", `S3 storage needs the environment variable ${name}.`);
    if (/[^\x21-\x7e]/.test(value))
      throw new AppError("invalid_request", `The environment variable ${name} has a character that no credential has.`);
    return value;
  };
  const given = option ?? variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL");
  const endpoint = given === undefined ? undefined : checkEndpoint(given);
  const region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? (endpoint && "us-east-1");
  if (region === undefined)
    throw new AppError(
      "invalid_request",
      "S3 storage needs the environment variable AWS_REGION, such as eu-central-1.",
    );
  if (!/^[a-z0-9-]{1,40}$/i.test(region))
    throw new AppError(
      "invalid_request",
      `AWS_REGION is ${JSON.stringify(region)}, which is not the name of a region.`,
    );
  return {
    region,
    endpoint,
    accessKeyId: required("AWS_ACCESS_KEY_ID"),
    secretAccessKey: required("AWS_SECRET_ACCESS_KEY"),
    sessionToken: variable("AWS_SESSION_TOKEN") === undefined ? undefined : required("AWS_SESSION_TOKEN"),
    proxies,
  };
}

/** The value may have a password, so no message has it. */
function checkEndpoint(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (isPlain && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw new AppError(
    "invalid_request",
    "The endpoint of the S3 storage (--s3-endpoint, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL) must be an http or https URL without user name, query and fragment.",
  );
}
