/** Explains why a request failed on the network, and whether another attempt may help. */

export interface NetworkFailure {
  /** What happened, without a full stop. */
  readonly what: string;
  /** Whether the same request may succeed a moment later. */
  readonly passing: boolean;
}

/** Failures of the certificate or the handshake. */
const tlsCode = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS|^ERR_SSL|^EPROTO/;

/** @param proxy the proxy of the request; undefined if it is direct */
export function networkFailure(error: unknown, url: string, proxy: string | undefined): NetworkFailure {
  const { hostname, host } = new URL(url);
  const causes = causesOf(error);
  const code = causes.map(codeOf).find((each) => each !== "") ?? "";
  const text = causes.map((cause) => cause.message).join(": ");
  const refusal = /Proxy response \((\d+)\)|\b(407)\b/.exec(text);
  if (proxy !== undefined && refusal !== null)
    return lasting(
      `the proxy ${proxy} refused the connection to ${host} with HTTP ${refusal[1] ?? refusal[2]}; check its address and its user name and password`,
    );
  const via = proxy === undefined ? "" : ` through the proxy ${proxy}`;
  const place = proxy === undefined ? host : `the proxy ${proxy}`;
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EAI_FAIL":
      return {
        what: `the name ${proxy === undefined ? hostname : new URL(proxy).hostname} cannot be resolved (DNS, ${code}); check ${proxy === undefined ? "the network, or set HTTPS_PROXY if it requires a proxy" : "HTTPS_PROXY"}`,
        passing: false,
      };
    case "ECONNREFUSED":
      return lasting(`${place} refuses connections (ECONNREFUSED)`);
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return lasting(`there is no route to ${place} (${code})`);
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return { what: `${place} does not accept a connection in time (timeout, ${code})`, passing: true };
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return lasting(`${place} does not speak TLS; it may need http:// instead of https://`);
  if (tlsCode.test(code))
    return lasting(
      `the TLS connection to ${host}${via} failed: ${firstLine(text)} (${code}). If your network inspects TLS, set NODE_EXTRA_CA_CERTS to its certificate`,
    );
  const reason = code === "" ? firstLine(text) : `${firstLine(text)} (${code})`;
  return { what: `the connection to ${host}${via} broke: ${reason}`, passing: true };
}

function lasting(what: string): NetworkFailure {
  return { what, passing: false };
}

function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  // Happy Eyeballs reports all its attempts in one.
  const next = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
  const rest = causesOf(next);
  // `fetch failed` says nothing that its cause does not say.
  return rest.length > 0 && error instanceof TypeError ? rest : [error, ...rest];
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

function firstLine(text: string): string {
  return text
    .split("\n", 1)[0]!
    .replace(/; if the root CA.*$/, "")
    .slice(0, 300);
}
