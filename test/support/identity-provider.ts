/** A real provider of OpenID Connect on a free port of this machine, in the process of the tests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTHeaderParameters, type JWTPayload } from "jose";
import { Provider, type Configuration } from "oidc-provider";
import { MemoryAdapter } from "./provider-memory.ts";

/** Who signs in at the provider, and what it says about them. */
export interface TestPerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export const clientId = "sounding";
export const clientSecret = "a-secret-of-the-client";

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: object;
}

export class TestIdentityProvider implements AsyncDisposable {
  readonly issuer: string;
  /** Who signs in next. Undefined: nobody, the provider refuses. */
  person: TestPerson | undefined = { sub: "alice", email: "alice@example.com", email_verified: true, name: "Alice" };
  /** The paths of the requests that it got. */
  readonly requests: string[] = [];
  /** Set: requests whose path begins with the key get this status instead. */
  readonly failing = new Map<string, number>();
  /** Changes ID tokens before they are sent. */
  changeIdToken: ((claims: JWTPayload) => JWTPayload) | undefined;
  /** Changes the metadata before they are sent. */
  changeMetadata: ((metadata: object) => object) | undefined;
  readonly #server = createServer((request, response) => this.#serve(request, response));
  readonly #settings: Partial<Configuration>;
  readonly #people = new Map<string, TestPerson>();
  #key: SigningKey;
  #provider: Provider;

  private constructor(port: number, key: SigningKey, settings: Partial<Configuration>) {
    this.issuer = `http://127.0.0.1:${port}`;
    this.#key = key;
    this.#settings = settings;
    this.#provider = this.#create();
  }

  /** @param settings of `oidc-provider`, in addition to those of all tests */
  static async start(settings: Partial<Configuration> = {}): Promise<TestIdentityProvider> {
    const port = await freePort();
    const provider = new TestIdentityProvider(port, await newKey(), settings);
    await provider.listen();
    return provider;
  }

  /** Accepts connections again. */
  async listen(): Promise<void> {
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    this.#server.once("error", reject).listen(Number(new URL(this.issuer).port), "127.0.0.1", resolve);
    await promise;
  }

  /** Refuses connections, as if the provider were down. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Signs with a new key from now on, and publishes only that one. */
  async rotateKeys(): Promise<void> {
    this.#key = await newKey();
    this.#provider = this.#create();
  }

  /** A token with its signature. */
  async sign(claims: JWTPayload, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const nowSeconds = Math.floor(Date.now() / 1000);
    return await new SignJWT({ iss: this.issuer, iat: nowSeconds, exp: nowSeconds + 300, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: this.#key.kid, ...header })
      .sign(this.#key.privateKey);
  }

  /** How often a path was requested. */
  count(path: string): number {
    return this.requests.filter((each) => each === path).length;
  }

  /** Changes what the provider says about a person who has signed in. */
  know(person: TestPerson): void {
    this.#people.set(person.sub, person);
  }

  /** Ends the person's access: the refresh tokens that the provider issued to them no longer work. */
  forget(sub: string): void {
    this.#people.delete(sub);
  }

  #create(): Provider {
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: ["https://sounding.example.com/sign-in/acme/callback"],
          grant_types: ["authorization_code", "refresh_token", "client_credentials"],
          id_token_signed_response_alg: "ES256",
        },
      ],
      adapter: MemoryAdapter,
      jwks: { keys: [this.#key.jwk] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
      scopes: ["openid", "offline_access", "email", "profile", "groups"],
      pkce: { required: () => true },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: (context, _client, oneOf) =>
            // Access tokens of people stay opaque, so that they work at the userinfo endpoint.
            oneOf ??
            (context.oidc.params?.["grant_type"] === "client_credentials" ? "https://sounding.example.com" : []),
          getResourceServerInfo: () => ({
            scope: "",
            audience: "sounding-api",
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "ES256" } },
          }),
        },
      },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, id) => {
        const person = this.#people.get(id);
        return person && { accountId: id, claims: () => ({ ...person, groups: [...(person.groups ?? [])] }) };
      },
      issueRefreshToken: (_context, _client, code) => code.scopes.has("offline_access"),
      cookies: { keys: ["a-key-of-cookies"] },
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        ClientCredentials: 600,
        Grant: 3600,
        IdToken: 600,
        Interaction: 600,
        RefreshToken: 3600,
        Session: 3600,
      },
      ...this.#settings,
    });
    // The port of the server under test is not known before it starts.
    Object.assign((provider.Client as unknown as { prototype: object }).prototype, {
      redirectUriAllowed: () => true,
      postLogoutRedirectUriAllowed: () => true,
    });
    provider.on("server_error", (_context, error) => console.error(error));
    provider.use(async (context, next) => {
      await next();
      if (context.path.startsWith("/.well-known/") && this.changeMetadata !== undefined)
        context.body = this.changeMetadata(context.body as object);
      await this.#changeToken(context.path, context.body);
    });
    return provider;
  }

  async #changeToken(path: string, body: unknown): Promise<void> {
    if (this.changeIdToken === undefined || path !== "/token") return;
    const answer = body as { id_token?: string };
    const claims = JSON.parse(Buffer.from(answer.id_token!.split(".")[1]!, "base64url").toString()) as JWTPayload;
    answer.id_token = await this.sign(this.changeIdToken(claims));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url!, this.issuer).pathname;
    this.requests.push(path);
    const failure = [...this.failing].find(([prefix]) => path.startsWith(prefix));
    if (failure !== undefined) return void response.writeHead(failure[1]).end();
    if (path.startsWith("/interaction/")) return void this.#signIn(request, response);
    void this.#provider.callback()(request, response);
  }

  /** What a person would do in the provider's pages: sign in, and agree to everything. */
  async #signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = this.#provider;
    const { grantId, params, prompt, session } = await provider.interactionDetails(request, response);
    if (this.person === undefined) {
      const refusal = { error: "access_denied", error_description: "Nobody is here." };
      return await provider.interactionFinished(request, response, refusal);
    }
    if (prompt.name === "login") {
      this.#people.set(this.person.sub, this.person);
      return await provider.interactionFinished(request, response, { login: { accountId: this.person.sub } });
    }
    const grant =
      grantId === undefined
        ? new provider.Grant({ accountId: session!.accountId, clientId: String(params["client_id"]) })
        : await provider.Grant.find(grantId);
    grant!.addOIDCScope("openid offline_access email profile groups");
    const consent = { grantId: await grant!.save() };
    await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  }
}

async function newKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const kid = crypto.randomUUID();
  return { kid, privateKey, jwk: { ...(await exportJWK(privateKey)), kid, alg: "ES256", use: "sig" } };
}

async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
